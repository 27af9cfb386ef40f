"""Check hindsight's intervals against exact arithmetic on many random and hostile cases.

    python tools/exactness.py --cases 10000 --seed 1 --only linear

Case i of a source is drawn from seed + i, so that ``--cases 1 --seed N`` repeats a single case.
Failures are printed as they come; the table at the end counts them by class, loss and kind of data.
A case takes from 2 ms (proofs) to 200 ms (advised) of CPU time, most of it in the exact arithmetic:
1,000 cases of every source about a quarter of an hour.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.exactness.protocol import Draw, sources


def run(name: str, draw: Draw, seeds: range, show: int) -> int:
    """Check one source's cases, print a table and return the number of failures."""
    checked: Counter[tuple[str, str, str]] = Counter()
    failed: Counter[tuple[str, str, str]] = Counter()
    began = time.process_time()
    for seed in seeds:
        case = draw(seed)
        key = (case.group, case.loss, case.data)
        checked[key] += 1
        if failure := case.failure():
            failed[key] += 1
            if failed.total() <= show:
                print(f"{name} {seed}: {' / '.join(key)}: {failure}", flush=True)
    seconds = time.process_time() - began
    print(f"\n{name}: {checked.total()} cases, {failed.total()} failures,", end=" ")
    print(f"{1e3 * seconds / max(1, checked.total()):.1f} ms of CPU time per case")
    for title, part in (("class", 0), ("loss", 1), ("data", 2)):
        print_counts(title, tally(checked, part), tally(failed, part))
    if failed:
        print("  failures by class, loss and data")
        for key, count in failed.most_common(show):
            print(f"    {count:6d} of {checked[key]:6d}  {' / '.join(key)}")
    return failed.total()


def tally(counts: Counter[tuple[str, str, str]], part: int) -> Counter[str]:
    """Add counts up by one part of their keys."""
    sums: Counter[str] = Counter()
    for key, count in counts.items():
        sums[key[part]] += count
    return sums


def print_counts(title: str, checked: Counter[str], failed: Counter[str]) -> None:
    """Print cases and failures by one part of their keys."""
    print(f"  {title:<28}{'cases':>8}{'failures':>10}")
    for key, count in sorted(checked.items()):
        print(f"    {key:<26}{count:>8}{failed[key]:>10}")


def main() -> int:
    """Run what the command line asks for; the exit status says whether anything failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=1000, help="cases per source")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--only", action="append", help="a source by name; may be repeated")
    parser.add_argument("--show", type=int, default=20, help="failures to print per source")
    asked = parser.parse_args()
    found = sources()
    if unknown := set(asked.only or ()) - set(found):
        parser.error(f"no source {', '.join(sorted(unknown))}: there are {', '.join(found)}")
    seeds = range(asked.seed, asked.seed + asked.cases)
    failures = [
        run(name, draw, seeds, asked.show)
        for name, draw in found.items()
        if not asked.only or name in asked.only
    ]
    return int(any(failures))


if __name__ == "__main__":
    raise SystemExit(main())
