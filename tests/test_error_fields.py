"""An error is data: code uses its fields, and its words may change without any other change."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret
from noregret import streams
from noregret.errors import NoRegretError, Use, as_option
from tests.app.run.commands import command, small_blocks  # noqa: F401 - the fixture

SOURCES = Path(noregret.__file__).parent
COMPILED = Path(__file__).parents[1] / "src"  # an installed package does not have these
# Attributes of an error that are words.
WORDS = ("args", "what", "reason", "message", "msg", "cures")
# Words that layers used to look for, all at once.
OTHER = "round 7: line 9: the label is 5: must be, means nothing for --drop, but there are: use it"


# Nothing reads or changes the words.


def handlers(tree: ast.AST) -> Iterator[ast.ExceptHandler]:
    """Yield the except clauses that name an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.name is not None:
            yield node


def words_taken(handler: ast.ExceptHandler) -> Iterator[ast.AST]:
    """Yield where an except clause compares, cuts or searches the words of its error."""
    named: set[str] = set()

    def is_words(node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in named
        if isinstance(node, ast.JoinedStr):
            return any(isinstance(v, ast.FormattedValue) and is_error(v.value) for v in node.values)
        if isinstance(node, ast.Attribute):
            return node.attr in WORDS and is_error(node.value)
        return isinstance(node, ast.Call) and is_text(node.func) and any(map(is_error, node.args))

    def is_error(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == handler.name

    def is_text(function: ast.AST) -> bool:
        return isinstance(function, ast.Name) and function.id in ("str", "repr")

    for node in ast.walk(handler):
        if isinstance(node, ast.Assign) and is_words(node.value):
            named |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(handler):
        if isinstance(node, ast.Compare) and any(map(is_words, [node.left, *node.comparators])):
            yield node
        if isinstance(node, ast.Attribute | ast.Subscript) and is_words(node.value):
            yield node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            module = node.func.value
            if isinstance(module, ast.Name) and module.id == "re" and any(map(is_words, node.args)):
                yield node


def test_no_code_compares_cuts_or_rewrites_the_words_of_an_error() -> None:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text("utf-8")
        if "except" not in text and ".args" not in text:
            continue
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found += [f"{path}:{node.lineno}"] if node.attr == "args" else []
        for handler in handlers(tree):
            found += [f"{path}:{handler.lineno}" for _ in words_taken(handler)]
    assert found == []


@pytest.mark.parametrize("path", sorted(COMPILED.rglob("*.pyx")), ids=lambda path: path.stem)
def test_no_compiled_code_does_either(path: Path) -> None:
    text = path.read_text("utf-8")
    names = re.findall(r"except [^\n]*\bas (\w+):", text)
    for name in {"error", *names}:
        assert not re.search(
            rf"\b{name}\.(args|what|cures)\b|in str\({name}\)|str\({name}\)\.", text
        )


@pytest.mark.parametrize(
    "line",
    [
        '"must be" in str(error)',
        'str(error).startswith("round")',
        'said = str(error); said.partition(": ")',
        're.sub("a", "b", str(error))',
        'error.what == "x"',
        'f"{error}".replace("a", "b")',
        "str(error)[:40]",
    ],
)
def test_such_code_is_found(line: str) -> None:
    tree = ast.parse(f"try:\n    pass\nexcept ValueError as error:\n    {line}\n")
    assert [*words_taken(next(handlers(tree)))]


# Other words, and all else the same.


@pytest.fixture
def other_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every error other words; where it happened and the parameters that help stay."""
    usual = NoRegretError.__init__

    def init(self: NoRegretError, what: str, cure: Any = (), **fields: Any) -> None:
        cures = (cure,) if isinstance(cure, str | Use) else cure
        changed = [OTHER if isinstance(c, str) else c._replace(text="≈ {} ≈") for c in cures]
        usual(self, OTHER, changed, **fields)

    monkeypatch.setattr(NoRegretError, "__init__", init)


def facts(error: NoRegretError) -> tuple[Any, ...]:
    """Return what an error says, but for its words."""
    uses = [(cure.name, cure.value) for cure in error.cures if isinstance(cure, Use)]
    place = error.file and Path(error.file).name, error.line, error.column, error.row
    return type(error), *place, error.round, error.unit, error.feature, uses, len(error.cures)


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file."""
    (folder / name).write_text(text, "utf-8")
    return folder / name


def read(name: str, text: str, **options: Any) -> Callable[[Path], Any]:
    """Play a file with such text."""

    def act(folder: Path) -> Any:
        stream = streams.read(written(folder, name, text), **options)
        game = noregret.play(noregret.WidrowHoff(rate=0.1), stream)
        weights = game.learner.weights.tobytes()
        return game.rounds, weights, [facts(row) for row in game.skipped]

    return act


def learn(x: Any, y: Any, learner: str = "widrow-hoff", **params: Any) -> Callable[[Path], Any]:
    """Learn from many rows."""
    return lambda folder: noregret.make(learner, **params).learn_many(x, y)


GOOD = "a,b,y\n" + "1,2,3\n2,1,4\n" * 5
ACTS: dict[str, Callable[[Path], Any]] = {
    "infinity": learn([{"a": 1.0}, {"a": np.inf}], [1, 1]),
    "label": learn([[1.0], [1.0]], [1, 5], "logistic"),
    "labels of two kinds": learn([[1.0]] * 3, [-1, 1, 0], "perceptron"),
    "outcome": learn([[1.0], [1.0]], [1, None]),
    "diverges": learn([[9.0]] * 400, [1e9] * 400, "gradient-descent", rate=5.0),
    "twice": learn([{"a=b": 1.0, "a": "b"}], [1]),
    "asleep": lambda folder: noregret.make("fixed-share").learn_many([[np.nan, np.nan]], [1.0]),
    "portfolio": lambda folder: noregret.make("uniform-rebalanced").learn_many(
        [[1.0, 1.1], [1.0, -2.0]]
    ),
    "filter": lambda folder: noregret.play(noregret.make("lms"), [1.0, "x"], [1.0, 2.0]),
    "word": read("d.csv", GOOD + "x,1,2\n", target="y"),
    "empty": read("d.csv", GOOD + ",1,2\n", target="y"),
    "no outcome": read("d.csv", GOOD + "1,1,\n", target="y"),
    "few values": read("d.csv", GOOD + "1,1\n", target="y"),
    "half a row": read("d.tsv", GOOD.replace(",", "\t") + "1\n", target="y"),
    "no column": read("d.csv", GOOD, target="z"),
    "no target": read("d.csv", GOOD),
    "separator": read("d.csv", GOOD.replace(",", ";"), target="y"),
    "no header": read("d.csv", "1.5,2\n3,4\n", target="2"),
    "dates": read("d.csv", "t,y\n2020-01-01,2\n2020-01-02,2\n", target="y"),
    "text": read("d.csv", "a,y\n1,no\n2,yes\n", target="y"),
    "json": read("d.jsonl", '{"a": 1, "y": 2}\n{"a": 1, "y"\n', target="y"),
    "json, empty": read("d.jsonl", '{"a": 1, "y": 2}\n{"b": null, "y": 1}\n', target="y"),
    "svmlight": read("d.svm", "1 0:1\n1 0:x\n"),
    "vw": read("d.vw", "1 | a\nx | a\n"),
    "meaningless": read("d.vw", "1 | a\n", drop="a"),
    "unknown": read("d.zzz", ""),
    "skipped words": read("d.csv", GOOD + "x,1,2\n1,1,1\n1,1,\n", target="y", on_error="skip"),
    "skipped lines": read("d.svm", "1 0:1\n1 0:x\n2 0:1\n", on_error="skip"),
    "certificate": lambda folder: noregret.load_certificate(written(folder, "c.json", "{")),
    "model": lambda folder: noregret.load(written(folder, "m.model", "none")),
}


def outcome(act: Callable[[Path], Any], folder: Path) -> Any:
    """Return what comes of an act: its result, or the error but for its words."""
    try:
        return act(folder)
    except NoRegretError as error:
        return facts(error)


@pytest.mark.parametrize("name", ACTS)
def test_with_other_words_errors_say_the_same(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    usual = outcome(ACTS[name], tmp_path)
    assert usual is not None, "nothing was refused"
    request.getfixturevalue("other_words")
    assert outcome(ACTS[name], tmp_path) == usual


PRICES = "day,oil,tin\n2020-01-01,1,2\n2020-01-02,{},2\n"
# Command lines, files, their exit codes, and what of their messages is no words of an error.
COMMANDS: dict[str, tuple[str, dict[str, str], int, list[str]]] = {
    "word": ("run d.csv --target y", {"d.csv": GOOD + "x,1,2\n"}, 1, ["d.csv, line 12", "--cat"]),
    "empty": (
        "run d.csv --target y --missing stop",
        {"d.csv": GOOD + ",1,2\n"},
        1,
        ["line 12", "--missing zero"],
    ),
    "no target": ("run d.csv", {"d.csv": GOOD}, 2, ["d.csv", "--target"]),
    "no outcome": (
        "run d.csv --target y --missing stop",
        {"d.csv": GOOD + "1,1,\n"},
        1,
        ["--missing indicator", "--on-error skip"],
    ),
    "label": (
        "run d.csv --target y",
        {"d.csv": "a,y\n" + "1,0\n2,1\n" * 1000 + "1,5\n"},
        1,
        ["d.csv, line 2002", "--task numbers"],
    ),
    "diverges": (
        "run d.csv --target y --learner gradient-descent -p rate=9",
        {"d.csv": "a,y\n" + "9,1\n" * 400},
        1,
        ["d.csv, line ", "-p rate=…", "--learner auto"],
    ),
    "dates": ("portfolio p.csv", {"p.csv": PRICES.format(1)}, 1, ["--date day", "--drop day"]),
    "gap": (
        "portfolio p.csv --date day",
        {"p.csv": PRICES.format("")},
        1,
        ["line 3", "--drop oil"],
    ),
    "no table": ("mix d.vw --target y", {"d.vw": "1 | a\n"}, 2, []),
    "no model": (
        "predict m d.csv",
        {"m": "none", "d.csv": GOOD},
        1,
        ["m: ", "noregret run --model"],
    ),
    "no certificate": (
        "verify c.json d.csv",
        {"c.json": "{", "d.csv": GOOD},
        1,
        ["c.json, line 1"],
    ),
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("words", [False, True], ids=["usual words", "other words"])
@pytest.mark.parametrize("name", COMMANDS)
def test_with_other_words_commands_end_and_advise_the_same(
    name: str,
    words: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    line, files, code, said = COMMANDS[name]
    monkeypatch.chdir(tmp_path)
    for file, text in files.items():
        written(tmp_path, file, text)
    if words:
        request.getfixturevalue("other_words")
    ended = command(*line.split())
    assert ended.code == code, ended.err
    for part in said:
        assert part in ended.err
    if words:
        assert OTHER in ended.err


def test_with_other_words_the_same_rows_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "d.csv", GOOD + "x,1,2\n1,1,1\n1,1,z\n2,2,inf\n3,1,2\n")
    line = [
        "run",
        "d.csv",
        "--target",
        "y",
        "--on-error",
        "skip",
        "--json",
        "--quiet",
        "--predictions",
        "p.csv",
    ]
    usual = command(*line)
    predicted = (tmp_path / "p.csv").read_bytes()
    request.getfixturevalue("other_words")
    other = command(*line)
    assert (usual.code, other.code) == (0, 0)
    assert (tmp_path / "p.csv").read_bytes() == predicted
    places = [[row["place"] for row in skipped_in(ended.out)] for ended in (usual, other)]
    assert places[0] == places[1] == [f"d.csv, line {line}" for line in (12, 14, 15)]


def skipped_in(out: str) -> Any:
    """Return the rows that a summary in JSON says were skipped."""
    return json.loads(out)["data"]["skipped"]["first"]


def test_with_other_words_verify_names_no_option_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "d.csv", GOOD)
    assert (
        command(*["run", "d.csv", "--target", "y", "--certificate", "c.json", "--quiet"]).code == 0
    )
    written(tmp_path, "d.csv", GOOD + "1,1,z\n")
    request.getfixturevalue("other_words")
    ended = command(*["verify", "c.json", "d.csv"])
    assert ended.code == 1
    assert "d.csv, line 12" in ended.err
    assert "--on-error" not in ended.err
    assert "give the data that the certificate was made from" in ended.err


# Words.


def test_a_parameter_is_worded_as_its_reader_writes_it() -> None:
    cures = ("fill it in", Use("missing", "zero"), Use("drop", ["my day"], "drop it ({})"))
    error = noregret.BadExample("column 'my day' is empty", cures, round=3, feature="my day")
    assert str(error) == (
        "round 3: column 'my day' is empty: fill it in, use missing='zero', or drop it"
        " (drop=['my day'])"
    )
    error.at(file="d.csv", line=4)
    assert error.worded(as_option) == (
        "d.csv, line 4: column 'my day' is empty: fill it in, use --missing zero, or drop it"
        " (--drop 'my day')"
    )
    assert as_option(Use("header", False)) == "--no-header"
    assert as_option(Use("on_error")) == "--on-error"


def test_a_place_that_is_known_stays() -> None:
    error = noregret.BadExample("x", file="d.csv", line=4)
    assert error.at(file="e.csv", line=9, column=2, round=1).place == "d.csv, line 4"
    assert error.at(file="d.csv", line=9, column=2).place == "d.csv, line 4, column 2"
