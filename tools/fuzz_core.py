"""Throw hostile arguments at everything that reaches the compiled core, and count what breaks.

    python tools/fuzz_core.py [--calls 20000] [--seconds 300] [--seed 0] [--only KIND] [--again N]

Calls are made in a process of their own, which says what it is about to do: one that is killed by a
signal is a crash, one that takes more than ``HANG`` seconds a hang, and the next call goes on in a
new process. Call N is the same for the same seed, so that ``--again N`` repeats it. Errors that no
user should see (SystemError, AssertionError, …) are counted by their kind. 10,000 calls take about
two minutes of CPU time.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))
import hostile_values as hostile

import noregret as nr
from noregret.base.families import FAMILIES, homes
from tests.compiled import compiled_modules

HANG = 120
MEMORY = 6 * 2**30
# Raised for what a caller did. Anything else from a public method is counted as odd.
FITTING = (
    nr.NoRegretError,
    TypeError,
    ValueError,
    OverflowError,
    MemoryError,
    StopIteration,
    OSError,
)
# Names that do other things than compute: they write files, open games, or take the core apart.
SKIPPED = {"save", "to_onnx", "certificate", "tuned", "cancel_file"}
# What each family is built with beyond its defaults.
GIVEN: dict[str, dict[str, Any]] = {
    "Exp3": {"arms": 3}, "Exp3Ix": {"arms": 3}, "Ucb1": {"arms": 3}, "Thompson": {"arms": 3},
    "Exp4": {"arms": 2}, "Lms": {"taps": 4}, "Nlms": {"taps": 4}, "Rls": {"taps": 3},
    "SignLms": {"taps": 4}, "AffineProjection": {"taps": 4},
}  # fmt: skip
FORMS: dict[str, list[dict[str, Any]]] = {
    "KernelPerceptron": [{"budget": 3}],
    "KernelGradientDescent": [{"budget": 2, "loss": "hinge"}],
    "OnlineNewton": [{"form": "diagonal"}],
    "Winnow": [{"form": "winnow1"}, {"form": "balanced"}],
    "Perceptron": [{"averaged": True}],
    "GradientDescent": [{"radius": 0.5}, {"loss": "hinge", "step": "implicit"}],
    "Hedge": [{"loss": "log"}],
}

Call = tuple[str, Callable[[], Any]]


def core_modules() -> list[Any]:
    """Return every compiled module."""
    return sorted(compiled_modules(), key=lambda module: str(module.__name__))


def core_things() -> list[Any]:
    """Return every class and function of the core."""
    return [
        thing
        for module in core_modules()
        for name, thing in sorted(vars(module).items())
        if name[0] != "_"
        and getattr(thing, "__module__", "") == module.__name__
        and callable(thing)
    ]


def built(kind: Any, rng: Random) -> Any:
    """Return one of a family, made as it should be, and perhaps taught a little."""
    name = kind.__name__
    params = GIVEN.get(name, {}) | rng.choice([{}, *FORMS.get(name, [])])
    if name in ("GradientDescent", "Hedge", "Adagrad") and rng.random() < 0.15:
        return kind(**params | {"loss": reentrant_loss(rng)})
    return kind(**params)


LATEST: dict[str, Any] = {}


def reentrant_loss(rng: Random) -> Any:
    """Return a loss that uses whatever was built last."""

    def value(score: float, outcome: float) -> float:
        act(rng)
        return (score - outcome) ** 2

    return nr.PythonLoss(value, lambda score, outcome: 2 * (score - outcome))


def act(rng: Random) -> None:
    """Use the object at hand while it is in use."""
    which = rng.randrange(12)
    thing = LATEST.get("thing")
    if thing is None or which > 4:
        return
    try:
        if which == 0:
            thing.learn_one([1.0, 2.0, 3.0], 1.0)
        elif which == 1:
            thing.predict_one({"z": 1.0})
        elif which == 2:
            thing.set_state(*thing.get_state())
        elif which == 3:
            thing.begin(7)
        else:
            thing.__init__()
    except Exception:  # it may refuse
        return


def teach(thing: Any, rng: Random) -> None:
    """Give it a few ordinary rounds, where it takes them."""
    if rng.random() < 0.3:
        return
    numbers = np.array([[rng.gauss(0, 1) for _ in range(3)] for _ in range(6)])
    labels = np.sign(numbers[:, 0]) if rng.random() < 0.5 else numbers[:, 0]
    ways: tuple[Callable[[], Any], ...] = (
        lambda: thing.learn_many(np.abs(numbers), labels),
        lambda: thing.learn_many(numbers, labels),
        lambda: thing.learn_many((numbers > 0).astype(float), (labels > 0).astype(float)),
        lambda: thing.fit(numbers, labels),
        lambda: thing.play_many(numbers[:, 0], numbers[:, 1]),
        lambda: thing.learn_many(np.exp(numbers / 10)),
        lambda: thing.learn(thing.choose(), 0.5),
    )
    for way in ways:
        try:
            way()
        except Exception:  # another way is for this one
            continue
        return


def methods_of(thing: Any) -> list[str]:
    """Return what can be called, or looked at, by name."""
    return [name for name in dir(thing) if name[0] != "_" and name not in SKIPPED]


def core_call(rng: Random) -> Call:
    """Return a call into the core itself: a function, or a method of an object built or not."""
    thing = rng.choice(THINGS)
    arguments = [
        hostile.anything(rng, lambda: act(rng)) for _ in range(rng.choice((0, 1, 2, 3, 4, 5, 6)))
    ]
    where = f"{thing.__module__}.{thing.__name__}"
    if not isinstance(thing, type):
        return f"core {where}", lambda: thing(*fitted(thing, arguments, rng))
    made = bare(thing) if rng.random() < 0.4 else sound(thing, rng, arguments)
    LATEST["thing"] = made
    name = rng.choice(methods_of(thing) or ["__repr__"])
    if rng.random() < 0.05:
        name = "__init__"
    return f"core {where}.{name}", lambda: used(made, name, arguments, rng)


def bare(kind: Any) -> Any:
    """Return an object whose ``__init__`` has not run."""
    return kind.__new__(kind)


def fitted(thing: Any, arguments: list[Any], rng: Random) -> list[Any]:
    """Return arguments of the types that a signature asks for, more often than not."""
    try:
        names = list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return arguments
    if rng.random() < 0.2:
        return arguments
    made = []
    for name in names:
        if name in ("starts",):
            made.append(hostile.starts(rng))
        elif name in ("indices", "places", "columns", "rows"):
            made.append(hostile.positions(rng, "i8" if name == "rows" else "i4"))
        elif name in ("X", "numbers", "frequencies", "out", "factor", "table", "gram", "far"):
            made.append(np.ones((rng.choice(hostile.SIZES[:6]), rng.choice(hostile.SIZES[:6]))))
        elif name in ("y", "data", "words", "given", "x", "d", "unseen_sums", "unseen_squares"):
            made.append(np.asarray(hostile.array(rng, 1, "f8")))
        elif name in ("mic", "heard", "left"):
            made.append(np.ones(rng.choice((0, 4, 8, 17)), np.float32))
        elif name == "text":
            made.append(hostile.text(rng))
        elif arguments:
            made.append(rng.choice([*arguments, rng.choice(hostile.INTEGERS)]))
        else:
            made.append(rng.choice(hostile.INTEGERS))
    return made


def sound(kind: Any, rng: Random, arguments: list[Any]) -> Any:
    """Return an object built with ordinary arguments, or others where those do not do."""
    from noregret.base.compiled.weigher import Exponential
    from noregret.filters.engine.filter_steps import Projecting
    from noregret.linear.engine.additive import Additive

    for given in (
        (), (3,), ("max",), ("standard",), (3, 0.5), (3, 0.5, 0.1), (3, 0.5, 0.1, 2), (Additive(),),
        (Exponential(),), (Additive(), lambda *_: None), (Projecting(4, 0.5, 0.1, 2),),
        (8000.0, 16),
        (8000.0, 16, 4, 1, 3, 80.0), (8000.0, 3, 80.0), (8000.0, 16, 3, 2.5), (3, 2),
        (np.arange(2, dtype="i4"), np.ones(2), 3), (b"0 1:1",), ([0.9] * 4, 10.0, 1.0),
        tuple(arguments),
    ):  # fmt: skip
        try:
            return kind(*given)
        except Exception:  # the next may do
            continue
    return kind.__new__(kind)


def used(made: Any, name: str, arguments: list[Any], rng: Random) -> Any:
    """Look a name up, and call it if it can be called."""
    found = getattr(made, name)
    return found(*fitted(found, arguments, rng)) if callable(found) else found


def family_call(rng: Random) -> Call:
    """Return a call of a public method of one of a family."""
    family = rng.choice(list(FAMILIES))
    classes = homes(family)
    name = rng.choice(list(classes))
    kind = getattr(importlib.import_module(classes[name]), name)
    arguments = [
        hostile.anything(rng, lambda: act(rng)) for _ in range(rng.choice((0, 1, 2, 2, 2, 3)))
    ]
    bare = rng.random() < 0.1
    thing = kind.__new__(kind, *([4] if family == "filters" else [])) if bare else built(kind, rng)
    LATEST["thing"] = thing
    method = rng.choice(methods_of(thing if not bare else kind))
    if rng.random() < 0.6:
        known = (
            "learn_one",
            "learn_many",
            "predict_one",
            "predict_many",
            "play_many",
            "learn",
            "fit",
            "play_one",
        )
        method = rng.choice([m for m in known if hasattr(kind, m)] or [method])
    turns = rng.choice((1, 1, 3))

    def call() -> None:
        if not bare:
            teach(thing, rng)
        if rng.random() < 0.1:
            disturb(arguments, rng)
        for _ in range(turns):
            used_publicly(thing, method, arguments)
        if not bare:
            for after in ("predict_one", "get_state"):
                used_publicly(thing, after, [[1.0, 2.0, 3.0]] if after == "predict_one" else [])

    return f"{family}{' unbuilt' if bare else ''} {name}.{method}", call


def used_publicly(thing: Any, name: str, arguments: list[Any]) -> None:
    """Call a method, which may refuse in its own words."""
    try:
        found = getattr(thing, name, None)
        if callable(found):
            found(*arguments)
    except FITTING:
        return


def disturb(arguments: list[Any], rng: Random) -> None:
    """Let another thread change the numbers in the arguments for a short while."""
    parts = []
    for given in arguments:
        parts += [given] if isinstance(given, np.ndarray) else []
        parts += [
            p
            for n in ("indices", "data", "indptr")
            if isinstance(p := getattr(given, n, None), np.ndarray)
        ]
    parts = [
        part for part in parts if part.size and part.flags.writeable and part.dtype.kind in "fi"
    ]
    end = time.monotonic() + 0.02

    def change() -> None:
        while time.monotonic() < end:
            for part in parts:
                with np.errstate(all="ignore"):
                    part.flat[rng.randrange(part.size)] = rng.choice(hostile.INDICES) % 2**15

    threading.Thread(target=change, daemon=True).start()


def other_call(rng: Random) -> Call:
    """Return a call of what is public and of no family."""
    from noregret.echo import Canceller
    from noregret.experts import Experts

    given = [hostile.anything(rng, lambda: act(rng)) for _ in range(3)]
    which = rng.randrange(9)
    if which < 3:
        return "fourier", lambda: nr.fourier(given[0], count=rng.choice((2, 4, 8)))
    if which == 3:
        method = rng.choice(("process", "process_many"))
        channels = rng.choice((1, 2))
        return f"echo {method}", lambda: getattr(
            Canceller(8000, channels=channels, certify=rng.random() < 0.5), method
        )(*given[:2])
    if which == 4:
        experts = Experts(
            {
                "a": nr.WidrowHoff(),
                "b": nr.NLMS() if hasattr(nr, "NLMS") else nr.WidrowHoff(rate=0.5),
            }
        )
        method = rng.choice(("learn_one", "predict_one", "learn_many", "play_many"))
        return f"ensemble {method}", lambda: used_publicly(experts, method, given[:2])
    if which == 5:
        loss = nr.Loss.__new__(rng.choice((nr.Loss, nr.PythonLoss)))
        uses: tuple[Callable[[], Any], ...] = (
            lambda: loss.value(1.0, 1.0),
            lambda: loss.implicit_step(1.0, 1.0, 1.0, 1.0),
            lambda: nr.GradientDescent(loss=loss).learn_one([1.0], 1.0),
            lambda: repr(loss),
        )
        return "loss", rng.choice(uses)
    if which == 6:
        learner = nr.WidrowHoff()
        return "play", lambda: nr.play(learner, *given[: rng.choice((1, 2))])
    return "text", lambda: read_text(rng)


def read_text(rng: Random) -> None:
    """Learn from a file of mutated text."""
    from noregret.streams import read

    kind = rng.choice(list(hostile.LINES))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"data.{kind}"
        path.write_bytes(hostile.text(rng, kind))
        options: dict[str, Any] = {"scale": rng.choice((None, "max", "standard", "unit"))}
        if kind in ("csv", "jsonl"):
            options["target"] = "y"
        try:
            nr.play(nr.WidrowHoff(), read(path, **{k: v for k, v in options.items() if v}))
        except FITTING:
            return


THINGS = core_things()
KINDS: dict[str, Callable[[Random], Call]] = {
    "core": core_call,
    "family": family_call,
    "other": other_call,
}


def work(options: argparse.Namespace, start: int, log: int) -> None:
    """Make calls until there were enough, saying of each what it is before it begins."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end = time.monotonic() + options.seconds
    for count in range(start, options.calls):
        if time.monotonic() > end:
            break
        rng = Random(f"{options.seed}:{count}")
        kind = options.only or rng.choice(("core", "family", "family", "other"))
        os.write(log, f"{count} building {kind}\n".encode())
        signal.alarm(HANG)
        said = ""
        try:
            said, call = KINDS[kind](rng)
            os.write(log, f"{count} {said}\n".encode())
            call()
        except FITTING:
            pass
        except Exception as error:
            if not said.startswith("core") or isinstance(error, SystemError):
                os.write(
                    log,
                    f"{count} ! {type(error).__name__}: {str(error)[:90]!r} in {said}\n".encode(),
                )
                if options.again is not None:
                    raise
        signal.alarm(0)
        LATEST.clear()
    os.write(log, b"done\n")


def run(options: argparse.Namespace) -> int:
    """Make all calls, and report what broke."""
    start = 0
    crashes: list[tuple[str, str, str]] = []
    odd: Counter[str] = Counter()
    made: Counter[str] = Counter()
    end = time.monotonic() + options.seconds
    while start < options.calls and time.monotonic() < end:
        with tempfile.TemporaryFile() as log:
            arguments = [sys.executable, __file__, "--work", str(start), "--log", str(log.fileno())]
            for name in ("seed", "calls", "only"):
                if getattr(options, name) is not None:
                    arguments += [f"--{name}", str(getattr(options, name))]
            arguments += ["--seconds", str(end - time.monotonic())]
            status = subprocess.run(
                arguments,
                pass_fds=[log.fileno()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
            )
            log.seek(0)
            lines = log.read().decode(errors="replace").splitlines()
        for line in lines:
            number, _, said = line.partition(" ")
            if said.startswith("! "):
                error, _, where = said.rpartition(" in ")
                odd[f"{error} in {where}"] += 1
            elif said and not said.startswith("building"):
                made[said.split(" ")[0]] += 1
        if lines and lines[-1] == "done":
            break
        if not lines:
            print(status.stderr.decode(errors="replace")[-2000:])
            return 2
        number, _, said = lines[-1].partition(" ")
        name = (
            signal.Signals(-status.returncode).name
            if status.returncode < 0
            else f"exit {status.returncode}"
        )
        if status.returncode > 0:
            name += " " + status.stderr.decode(errors="replace").strip().rpartition("\n")[2][:100]
        crashes.append((number, name, said))
        print(f"{name}: call {number}, {said}", flush=True)
        start = int(number) + 1
    print(f"\n{sum(made.values()):,} calls: {dict(made)}")
    print(f"{len(crashes)} crashes or hangs, {sum(odd.values())} odd errors")
    for (name, where), count in Counter((name, said) for _, name, said in crashes).most_common():
        print(f"  {count} × {name} {where}")
    for said, count in odd.most_common(60):
        print(f"  {count} × {said}")
    return int(bool(crashes))


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(KINDS))
    parser.add_argument("--again", type=int, help="make this call alone, in this process")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--log", type=int, default=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.again is not None:
        import faulthandler

        faulthandler.enable()
        options.calls = options.again + 1
        work(options, options.again, 2)
        return 0
    if options.work is not None:
        work(options, options.work, options.log)
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
