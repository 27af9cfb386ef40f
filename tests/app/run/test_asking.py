"""Command lines: how they are read, and what is said of those that make no sense."""

from __future__ import annotations

import importlib
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.app.cli.options import Option, params_of
from noregret.app.cli.parser import command_names, find, read
from noregret.errors import WrongUsage
from tests.app.run.commands import command, done, refused


def given(name: str, line: str) -> dict[str, Any]:
    """Return how the command line of a command is read."""
    return vars(read(find(name), shlex.split(line)))


def test_a_command_line_is_read() -> None:
    line = "a.csv --target y --learner nlms -p rate=1 b.csv -p x=2 --no-intercept -q --hash=9"
    found = given("run", line)
    assert found["data"] == ["a.csv", "b.csv"]
    assert found["parameter"] == ["rate=1", "x=2"]
    assert (found["intercept"], found["quiet"], found["hash"]) == (False, True, 9)
    assert (found["every"], found["hindsight"], found["json"]) == (1_000_000, True, False)


@pytest.mark.parametrize("value", ["-x", "--target", "-7", "-", "", " ", "é", "=", "a=b", "-p"])
def test_a_value_may_begin_with_a_dash(value: str) -> None:
    words = f"d.csv --positive {shlex.quote(value)} -p {shlex.quote(value)}"
    found = given("run", words)
    assert (found["positive"], found["parameter"]) == (value, [value])
    assert given("run", f"d.csv {shlex.quote('--positive=' + value)}")["positive"] == value


def test_an_option_is_not_abbreviated() -> None:
    with pytest.raises(WrongUsage, match="did you mean --target"):
        given("run", "d.csv --targe y")


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_help_that_fits_a_terminal(name: str) -> None:
    found = find(name)
    assert all(each.settings["help"].endswith(".") for each in found.options)
    assert importlib.import_module(f"noregret.app.cli.commands.{name}").__doc__
    told = done(name, "--help")
    assert told.startswith(f"usage: noregret {name}")
    assert found.example in told
    assert max(map(len, told.splitlines())) <= 80
    for each in found.options:
        assert each.names[0].startswith("-") <= (each.names[0] in told)


# Several learners, with their parameters; and a model to begin with, not one to write.
OTHERS = {("tournament", "--learner"), ("serve", "--model")}


def test_options_of_one_name_are_described_alike() -> None:
    """But for the help, which may say what is special about a command."""
    seen: dict[str, Option] = {}
    for name in command_names():
        for each in find(name).options:
            if (name, each.names[-1]) in OTHERS:
                continue
            same = seen.setdefault(each.names[-1], each)
            assert each.panel == same.panel
            for key in ("metavar", "type", "action", "nargs"):
                if not each.is_argument:
                    assert each.settings.get(key) == same.settings.get(key), (name, each)


def test_without_a_command_all_are_listed() -> None:
    ended = command()
    assert ended.code == 2
    assert ended.out == done("--help")
    assert all(f" {name} " in ended.out for name in command_names())


def test_parameters() -> None:
    given = ["rate=0.1", "averaged=True", "radius=none", "loss=hinge", "horizon=100", "max-norm=-1"]
    assert params_of(given) == {
        "rate": 0.1,
        "averaged": True,
        "radius": None,
        "loss": "hinge",
        "horizon": 100,
        "max_norm": -1,
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run", "run needs DATA: noregret run DATA.csv --target COLUMN"),
        ("run d.csv --nothing", "run has no option --nothing"),
        ("run d.csv --targt y", "did you mean --target or"),
        ("run --data d.csv --target y", "noregret run d.csv --target y"),
        ("verify c.json", "verify needs DATA: noregret verify CERTIFICATE.json DATA.csv"),
        ("mix d.csv", "name the column of outcomes: --target COLUMN"),
        ("porfolio d.csv", "there is no command 'porfolio': did you mean portfolio?"),
        ("echo f.wav m.wav", "noregret echo --far f.wav --mic m.wav --out CLEAN.wav"),
        ("echo f.wav m.wav o.wav -q", "noregret echo --far f.wav --mic m.wav --out o.wav -q"),
        ("run d.csv --target y -p loss=mae", "mae is called absolute here"),
        ("mix d.csv --target y --loss cross-entropy", "cross-entropy is called log here"),
        ("run d.csv --hash many", "'many' is not a whole number"),
        ("run d.csv --rate 1", "set parameters of the algorithm with -p: -p rate=…"),
        ("mix d.csv --rate 1", "-p rate=…"),
        ("portfolio d.csv --points 9", "-p points=…"),
        ("run d.csv --learning-rate 1", "run has no option --learning-rate"),
        ("run d.csv --hash 99", "hash must be a positive whole number up to 30"),
        ("run d.csv -p rate", "name=value"),
        ("run d.csv -p rate=1 -p rate=2", "given twice"),
        ("run d.csv --learner nonesuch", "unknown learner 'nonesuch'"),
        ("run d.csv --learner nlms -p speed=1", "has no parameter 'speed'"),
        ("run d.csv --learner nlms -p rate=fast", "rate"),
        ("run d.csv --scale huge", "unknown --scale 'huge'"),
        ("run d.csv --missing maybe", "unknown --missing 'maybe'"),
        ("run d.csv --on-error cry", "--on-error"),
        ("run d.csv --drop a --keep b", "not both"),
        ("run d.csv --every 0", "at least 1"),
        ("predict m d.csv --on-error cry", "--on-error"),
        ("nonesuch", "nonesuch"),
        ("run pyproject.toml --target y", "say what it is with --format"),
        ("run pyproject.toml --target y --format word", "the format 'word' is not known"),
        ("predict m pyproject.toml --format word", "the format 'word' is not known"),
        ("verify c.json d.csv --format word", "the format 'word' is not known"),
        ("portfolio pyproject.toml --format word", "the format 'word' is not known"),
        ("run - - --target y --format csv", "can be read only once"),
        ("run d.csv", "choose one with --target"),
        ("run d.csv --target y --predictions p.txt", ".csv or a .parquet file"),
        ("predict m d.csv --predictions p.txt", ".csv or a .parquet file"),
        ("run d.csv --target y --model x --report x", "already taken, by the model"),
        ("run d.csv --target y --model d.csv", "already taken, by the data"),
        ("run d.csv --target y --model x --checkpoint x", "already taken, by the model"),
        ("mix d.csv --target y --model x --report x", "already taken, by the model"),
        ("mix d.csv --target y --weights w.txt", ".csv or a .parquet file"),
        ("mix d.csv --target y --certificate {group}.json", "there are no groups"),
        ("mix d.csv --target y --group a --model m", "every group has its own model"),
        ("mix d.svm --target y", "forecasts must be a table"),
        ("portfolio d.csv --model x --report x", "already taken, by the model"),
        ("run d.svm --target y", "does not apply to svmlight files"),
        ("run d.svm --scale standard", "use --scale max, or --scale unit"),
        ("run d.npz --hash 3", "does not apply to npz files"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the data hold; here they could be read."""
    monkeypatch.chdir(tmp_path)
    for name in ("d.csv", "pyproject.toml"):
        (tmp_path / name).write_text("a,y\n1,2\n2,3\n")
    (tmp_path / "d.svm").write_text("1 1:2\n2 1:3\n")
    (tmp_path / "d.npz").write_bytes(b"")
    nr.WidrowHoff().save(tmp_path / "m")
    found = refused(*line.split(), code=2)
    assert said in " ".join(found.split())
    assert "╭" not in found
    assert found.rstrip().endswith("--help’")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run nowhere.csv --target y", "nowhere.csv"),
        ("run nowhere*.csv --target y", "no file matches"),
        ("run . --target y", "a folder"),
        ("predict nowhere d.csv", "nowhere"),
    ],
)
def test_work_that_cannot_be_done_ends_with_1(line: str, said: str) -> None:
    found = refused(*line.split())
    assert said in found
    assert found.count("\n") == 1


def told_of(tmp_path: Path, text: str, *options: str) -> str:
    """Return what a run of a small CSV file is refused with."""
    path = tmp_path / "data.csv"
    path.write_text(text)
    return refused("run", str(path), *options, code=1 if "--target" in options else 2)


def test_a_missing_outcome_names_its_remedy(tmp_path: Path) -> None:
    text = "a,y\n1,2\n2,\n3,4\n"
    told = told_of(tmp_path, text, "--target", "y", "--missing", "stop")
    assert "--missing indicator" in told
    assert "--on-error skip" in told
    path = str(tmp_path / "data.csv")
    for remedy in (("--missing", "indicator"), ("--missing", "stop", "--on-error", "skip")):
        ended = command("run", path, "--target", "y", "--no-hindsight", *remedy)
        assert ended.code == 0


def test_verify_advises_no_option_that_it_has_not(tmp_path: Path) -> None:
    path, made = tmp_path / "data.csv", str(tmp_path / "made.json")
    path.write_text("a,y\n1,2\n2,3\n3,4\n")
    assert command("run", str(path), "--target", "y", "--certificate", made).code == 0
    for text, reason in (
        ("a,y\n1,u\n2,v\n3,u\n", "the target 'y' holds text ('u' or 'v', …): "),
        ("a,y\n1,2\n2,x\n3,4\n", "line 3: column 'y': 'x' is not a number"),
    ):
        path.write_text(text)
        said = refused("verify", made, str(path))
        assert reason in said
        assert "--" not in said
        assert "give the data that the certificate was made from" in said


def test_a_learner_of_numbers_advises_what_to_do_with_several_classes(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,city\n" + "1,Oslo\n2,Bergen\n3,Rome\n" * 4)
    said = refused("run", path, "--target", "city", "--learner", "nlms")
    assert "as in --positive Oslo, or use --learner auto-classes for several classes" in said
    done("run", path, "--target", "city", "--learner", "auto-classes", "--no-hindsight")
    path.write_text("a,city\n" + "1,Oslo\n2,Bergen\n3,Oslo\n" * 4)
    said = refused("run", path, "--target", "city", "--learner", "nlms")
    assert "--positive Bergen" in said
    assert "auto-classes" not in said


@pytest.mark.parametrize("value", ["yes", "it is", "'"])
def test_a_positive_value_in_json_lines_can_be_pasted(value: str, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"a": 1, "y": y}) + "\n" for y in (value, "no")))
    said = refused("run", path, "--target", "y", "--learner", "nlms")
    found = shlex.split(said.partition("as in ")[2])
    assert found == ["--positive", value]
    assert command("run", path, "--target", "y", "--no-hindsight", *found).code == 0


def test_the_suggested_positive_value_can_be_pasted_and_is_the_rarer_one(tmp_path: Path) -> None:
    text = "a,y\n" + "1, <=50K\n" * 5 + "2, >50K\n" * 2
    said = told_of(tmp_path, text, "--target", "y", "--learner", "nlms")
    found = shlex.split(said.partition("as in ")[2])
    assert found == ["--positive", " >50K"]
    path = str(tmp_path / "data.csv")
    assert command("run", path, "--target", "y", "--no-hindsight", *found).code == 0


def test_the_last_of_many_columns_is_named(tmp_path: Path) -> None:
    names = ",".join(f"c{k}" for k in range(60))
    assert "'c0', " in (said := told_of(tmp_path, f"{names},wanted\n{'1,' * 60}1\n"))
    assert "49 more, and the last, 'wanted'" in said


def test_a_missing_header_is_suspected_and_its_cure_works(tmp_path: Path) -> None:
    said = told_of(tmp_path, "0.5,1\n0.25,2\n0.75,3\n", "--target", "2")
    assert "line 1: the file seems to have no header" in said
    assert "--no-header" in said
    path, made = str(tmp_path / "data.csv"), str(tmp_path / "made.json")
    line = ("run", path, "--target", "2", "--no-header", "--certificate", made)
    assert command(*line).code == 0
    assert "no-header" in json.loads(Path(made).read_text())["data"]["transforms"]
    assert command("verify", made, path).code == 0
    whole = told_of(tmp_path, "5,1\n25,2\n75,3\n", "--target", "2")
    assert "add --no-header" in whole


def test_whole_numbers_may_be_names(tmp_path: Path) -> None:
    path = tmp_path / "years.csv"
    path.write_text("2019,2020,2021\n1,2,3\n2,3,4\n")
    assert command("run", str(path), "--target", "2021", "--no-hindsight").code == 0


def test_a_model_and_data_the_wrong_way_round(tmp_path: Path) -> None:
    path, model = tmp_path / "data.csv", tmp_path / "model"
    path.write_text("a,y\n1,2\n2,3\n")
    ran = command("run", str(path), "--target", "y", "--no-hindsight", "--model", str(model))
    assert ran.code == 0
    said = refused("predict", str(path), str(model), code=2)
    assert f"noregret predict {model} {path}" in said
    assert "--model FILE" in refused("predict", str(path), str(path))
