"""Reseal models with one thing changed, load and use them, and count what breaks.

    python tools/hostile_models.py [--few N] [--only NAME] [--seconds 600] [--seed 0]

For every algorithm of every family, an ensemble, and models that know how their data were read: a
model is saved after a few rounds, every leaf of its header and every array is replaced in turn by
what it should not be, the digest is made to fit, and the file is loaded. Either it is refused by an
error of the library, or what comes of it predicts finite numbers, learns, can be saved again and
raises nothing but errors of the library. Each model is tried in a process of its own; all states of
all models take about five minutes of CPU time (give ``--seconds`` enough on a busy machine).
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import noregret as nr
from noregret.base import model_file
from noregret.base.families import FAMILIES
from noregret.base.packing import write_parts
from noregret.base.registry import all_of

Header = dict[str, Any]
Arrays = dict[str, Any]
State = tuple[str, Header, Arrays]

GIVEN: dict[str, dict[str, Any]] = {
    **{name: {"arms": 3} for name in ("exp3", "exp3-ix", "ucb1", "thompson")},
    "exp4": {"arms": 2},
    **{
        f"filters {name}": {"taps": 4}
        for name in ("lms", "nlms", "rls", "sign-lms", "affine-projection")
    },
}
LEAVES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 7, 2**40, 2**61, 2**63, 1.5, "", "x", "nan", "inf", "-0x1p+0",
    "0x1.0000000000000p+0", "0x1p+1000", "0x1p-1070", [], {}, [1], {"a": 1}, [[]], "../../etc",
)  # fmt: skip
ROWS = np.array([[0.5, -1.0, 0.25], [1.0, 0.5, -0.5], [-0.25, 0.75, 1.0], [0.1, 0.2, 0.3]])


def subjects() -> dict[str, Callable[[], Any]]:
    """Return what makes a model of every kind, by name."""
    found: dict[str, Callable[[], Any]] = {}
    for family in FAMILIES:
        for name, kind in all_of(family).items():
            params = GIVEN.get(f"{family} {name}", GIVEN.get(name, {}))
            found[f"{family} {name}"] = partial(made, kind, params)
    found["ensemble"] = ensemble
    return found


def made(kind: Any, params: dict[str, Any]) -> Any:
    """Return one of a class, taught a little."""
    return taught(kind(**params))


def ensemble() -> Any:
    """Return two learners and their master."""
    from noregret.experts import Experts

    made = Experts({"a": nr.WidrowHoff(), "b": nr.WidrowHoff(rate=0.3)})
    for row in ROWS:
        made.learn_one({"u": row[0], "v": row[1]}, row[2])
    return made


def ways(thing: Any) -> list[Callable[[], Any]]:
    """Return how things of all families are taught; the first that a thing takes is its own."""
    signs = np.where(ROWS[:, 0] > 0, 1.0, -1.0)
    return [
        lambda: thing.learn_many([{"u": a, "v": b} for a, b, _ in ROWS.tolist()], signs.tolist()),
        lambda: thing.learn_many([{"u": 1, "v": 0}, {"v": 1}], [1, -1]),
        lambda: thing.learn_many(ROWS, ROWS[:, 0]),
        lambda: thing.learn_many((ROWS > 0).astype(float), (signs > 0).astype(float)),
        lambda: thing.fit(ROWS, signs),
        lambda: thing.fit(ROWS, ROWS[:, 0]),
        lambda: thing.play_many(ROWS[:, 0], ROWS[:, 1]),
        lambda: thing.learn_many(np.exp(ROWS / 10)),
        lambda: [thing.learn(thing.choose(), 0.5) for _ in range(4)],
        lambda: [thing.learn(thing.choose([[0.5, 0.5], [0.9, 0.1]]), 0.5) for _ in range(4)],
    ]


def taught(thing: Any) -> Any:
    """Teach a thing in the way that it takes."""
    for way in ways(thing):
        try:
            way()
        except Exception:  # another way is for this one
            continue
        return thing
    return thing


def exercise(thing: Any, place: Path) -> str | None:
    """Use a thing as its owner would; return what went wrong, None for nothing."""
    try:
        for x in ({"u": 0.5, "v": 1.0}, [0.5, 1.0, 0.25], 0.5, [[0.5, 0.5], [0.9, 0.1]], None):
            for method in ("predict_one", "weights", "propensities"):
                try:
                    found = getattr(thing, method, None)
                    said = found(x) if callable(found) else found
                    if isinstance(said, dict):
                        said = list(said.values())
                except (nr.NoRegretError, TypeError, ValueError):
                    continue  # not its kind of example
                if isinstance(said, float | np.ndarray) and not np.isfinite(said).all():
                    return f"{method} gives {said}"
        for way in ways(thing):
            try:
                way()
            except (nr.NoRegretError, TypeError, ValueError, AttributeError):
                continue
        repr(thing)
        if hasattr(thing, "_repr_html_"):
            thing._repr_html_()
        if hasattr(thing, "copy"):
            thing.copy()
        thing.save(place)
    except nr.NoRegretError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def states(header: Header, arrays: Arrays) -> Iterator[State]:
    """Yield every change of one thing: what it is, and the whole with it."""
    for path in leaves(header):
        for value in (*LEAVES, DROPPED):
            changed = copy.deepcopy(header)
            inner: Any = changed
            for key in path[:-1]:
                inner = inner[key]
            if value is DROPPED:
                del inner[path[-1]]
            elif inner[path[-1]] == value and type(inner[path[-1]]) is type(value):
                continue
            else:
                inner[path[-1]] = value
            yield f"{'.'.join(map(str, path))} = {value!r}", changed, arrays
    for name, array in arrays.items():
        for said, changed_array in wrong_arrays(array):
            yield f"array {name}: {said}", header, arrays | {name: changed_array}
        yield f"array {name}: dropped", header, {k: v for k, v in arrays.items() if k != name}
        for other in arrays:
            if other > name and arrays[other].shape == array.shape:
                yield f"arrays {name}, {other}: swapped", header, arrays | {
                    name: arrays[other], other: array
                }  # fmt: skip
    yield "array: one more", header, arrays | {"more": np.ones(2)}


DROPPED = object()


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a header, whole parts too."""
    if path:
        yield path
    inner = (
        part.items()
        if isinstance(part, dict)
        else enumerate(part[:3])
        if isinstance(part, list)
        else ()
    )
    for key, value in inner:
        yield from leaves(value, (*path, key))


def wrong_arrays(array: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an array should not be."""
    flat = array.reshape(-1)
    if flat.size and array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1.0, 0.0, 1e300, -1e300, 5e-324):
            for place in {0, flat.size - 1}:
                changed = flat.copy()
                changed[place] = value
                yield f"{value:g} at {place}", changed.reshape(array.shape)
            yield f"all {value:g}", np.full_like(array, value)
    elif flat.size:
        for value in (0, 1, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min):
            yield f"all {value}", np.full_like(array, value)
    yield "longer", np.append(flat, flat[:1] if flat.size else np.ones(1, array.dtype))
    yield "shorter", flat[:-1].copy()
    yield "empty", flat[:0].copy()
    yield "of two dimensions", flat.reshape(1, -1).copy()
    yield "single precision", flat.astype(np.float32)
    yield "whole numbers", np.nan_to_num(flat.astype(np.float64)).clip(-9, 9).astype(np.int64)
    yield "reversed", flat[::-1].copy().reshape(array.shape)


def sealed(path: Path, header: Header, arrays: Arrays) -> None:
    """Write a file whose digest is right."""
    text = json.dumps(header, sort_keys=True)
    metadata = {"noregret": text, "digest": model_file._digest(text, arrays)}
    write_parts(path, arrays, metadata)


def parts(path: Path) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a model."""
    metadata, arrays = model_file.read_parts(path, "a model", nr.ModelFileError)
    return json.loads(metadata["noregret"]), {name: np.array(a) for name, a in arrays.items()}


def tried(
    make: Callable[[], Any], place: Path, few: int | None, rng: Random
) -> Iterator[tuple[str, str | None]]:
    """Yield every state of a model that is tried, and what went wrong with it."""
    make().save(place / "model")
    all_states = list(states(*parts(place / "model")))
    for said, header, arrays in (
        all_states if few is None else rng.sample(all_states, min(few, len(all_states)))
    ):
        yield said, "about to be tried"
        try:
            sealed(place / "changed", header, arrays)
            thing = nr.load(place / "changed")
        except nr.NoRegretError as error:
            yield said, None if "changed" in str(error) else f"no file is named: {error}"
        except Exception as error:
            yield said, f"{type(error).__name__}: {error}"
        else:
            yield said, exercise(thing, place / "again")


def work(options: argparse.Namespace) -> None:
    """Try one model, saying of every state what it is before it is tried."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as place:
        for said, fault in tried(
            subjects()[options.work], Path(place), options.few, Random(options.seed)
        ):
            os.write(1, (json.dumps([said, fault]) + "\n").encode())
    os.write(1, b"done\n")


def main() -> int:
    """Try all models, and say what broke."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, help="states of each model; all if not given")
    parser.add_argument("--only", help="models whose names begin so")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options)
        return 0
    counts: dict[str, Counter[str]] = {}
    end = time.monotonic() + options.seconds
    for name in subjects():
        if (options.only and not name.startswith(options.only)) or time.monotonic() > end:
            continue
        arguments = [sys.executable, __file__, "--work", name, "--seed", str(options.seed)]
        arguments += ["--few", str(options.few)] if options.few else []
        try:
            ended = subprocess.run(
                arguments,
                capture_output=True,
                check=False,
                timeout=max(1.0, end - time.monotonic()),
            )
            out, how = ended.stdout, f"ended with {ended.returncode}: {ended.stderr[-200:]!r}"
        except subprocess.TimeoutExpired as late:
            out, how = late.stdout or b"", "hangs, or there was no time left"
        lines = out.decode().splitlines()
        found = [json.loads(line) for line in lines if line != "done"]
        count = counts.setdefault(name.split(" ")[0], Counter())
        count["models"] += 1
        count["states"] += sum(fault == "about to be tried" for _, fault in found)
        for said, fault in found:
            if fault not in (None, "about to be tried"):
                count["faults"] += 1
                print(f"{name}: {said}: {fault}"[:240], flush=True)
        if not lines or lines[-1] != "done":
            count["crashes"] += 1
            print(f"{name}: {found[-1][0] if found else 'saving'}: {how}", flush=True)
    for family, count in counts.items():
        print(f"{family}: {dict(count)}")
    return int(any(count["faults"] or count["crashes"] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
