"""Change every leaf of a certificate of everything that certifies, and see what is confirmed.

    python tools/mutate_certificates.py [--few] [words in the names of games …]

Every change is sealed anew. What is confirmed though it is not true any more, and every error that
is none of noregret's own, is printed, with a table of fields and families at the end. All takes
about nine minutes of CPU time, ``--few`` a quarter of that.
"""

from __future__ import annotations

import collections
import contextlib
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.proof.certificates.roster import every, one_each  # noqa: E402
from tests.proof.certificates.trials import Trial  # noqa: E402


def main(words: list[str]) -> int:
    """Try all games, or those with one of the words in their names."""
    entries = one_each() if "--few" in words else every()
    words = [word for word in words if not word.startswith("--")]
    entries = [e for e in entries if not words or any(word in e.name for word in words)]
    tried: collections.Counter[tuple[str, str]] = collections.Counter()
    false: collections.Counter[tuple[str, str]] = collections.Counter()
    true, crashed, refused, started = 0, 0, 0, time.perf_counter()
    for entry in entries:
        trial = Trial(entry)
        if not trial.confirms(trial.contents):
            refused += 1
            print(f"{entry.name}: HONEST, but not confirmed", flush=True)
            continue
        for path, how, changed in trial.mutations():
            cell = field_of(path), entry.name.partition(":")[0]
            tried[cell] += 1
            place = ".".join(map(str, path))
            try:
                passed = trial.confirms(changed)
            except Exception as error:
                crashed += 1
                print(f"{entry.name}: {place} {how}: CRASH {error!r:.150}", flush=True)
                continue
            if passed:
                honest = False
                with contextlib.suppress(Exception):
                    honest = trial.is_true(changed)
                true += honest
                if not honest:
                    false[cell] += 1
                    print(f"{entry.name}: {place} {how}: CONFIRMED", flush=True)
    families = sorted({family for _, family in tried})
    fields = sorted({field for field, _ in tried})
    print(f"\n{'false ones confirmed / tried':28}" + "".join(f"{f:>14}" for f in families))
    for field in fields:
        cells = (f"{false[field, f]}/{tried[field, f]}" for f in families)
        print(f"{field:28}" + "".join(f"{cell:>14}" for cell in cells))
    print(
        f"\n{len(entries)} certificates ({refused} honest ones refused), {tried.total():,} changes:"
        f" {false.total()} false ones confirmed, {true} confirmed that are still true,"
        f" {crashed} crashes, {time.perf_counter() - started:.0f} s"
    )
    return 1 if false.total() or crashed or refused else 0


def field_of(path: tuple[object, ...]) -> str:
    """Return the field of a place, without the numbers of items and the names of weights."""
    named = [str(part) for part in path if not isinstance(part, int)]
    return ".".join(named[: 2 if named[:1] != ["theorem"] else 3]) or "(whole)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
