"""A run that names nothing: the learner without settings, and the loss that the outcomes choose."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.app.results.loss_choice import different
from tests.app.run import data
from tests.app.run.commands import command, done, process, refused, small_blocks
from tests.app.run.test_interrupted import stopped

__all__ = ["small_blocks"]
pytestmark = pytest.mark.usefixtures("small_blocks")
LATE = ["--target", "late", "--positive", "yes", "--drop", "sold"]


def told(*arguments: object) -> dict[str, Any]:
    """Return the JSON of a run."""
    found: dict[str, Any] = json.loads(done("run", *arguments, "--json"))
    return found


def outcomes(path: Path, *written: object) -> Path:
    """Write a file with such outcomes."""
    rows = "".join(f"{k % 7},{k % 3},{y}\n" for k, y in enumerate(written))
    path.write_text("a,b,y\n" + rows, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ((0, 1), "0 and 1"),
        ((-1, 1), "−1 and +1"),
        (("0.0", "1.0"), "0 and 1"),
        (("false", "true"), "false and true"),
        ((1, 2), "1 and 2"),
        ((2.5, -3), "−3 and +2.5"),
    ],
)
def test_labels_choose_the_logistic_loss(
    written: tuple[Any, Any], why: str, tmp_path: Path
) -> None:
    file = outcomes(tmp_path / "d.csv", *written * 30)
    found = told(file, "--target", "y")
    assert found["learner"]["name"] == "auto"
    assert found["learner"]["params"]["loss"] == found["loss"]["name"] == "logistic"
    assert found["loss"]["chosen"]["outcomes"] == "two classes"
    assert found["loss"]["mistakes"] is not None
    said = " ".join(done("run", file, "--target", "y").split())
    assert f"target two classes {why}; the loss is logistic;" in said
    assert "--task numbers takes them as numbers" in said
    assert told(file, "--target", "y", "--task", "numbers")["loss"]["name"] == "square"


def test_text_with_a_positive_value_is_a_label(tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.frame())
    found = told(file, *LATE)
    assert found["loss"]["name"] == "logistic"
    assert "as --positive yes says" in found["loss"]["chosen"]["words"]
    text = told(file, *LATE[:2], *LATE[4:])
    assert text["loss"]["total"] == found["loss"]["total"]
    assert {"positive=yes", "negative=no"} < {*text["data"]["transforms"]}


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ((0.5, 3, -2) * 20, "-p loss=absolute"),
        ((1, 2), "square loss"),
        ((0, 1, 2) * 20, "3 different whole numbers; --task classes if they are classes"),
        ((-1, 0, 1) * 20, "--task classes"),
        ((1,), "square loss"),
        (range(20), "20 different whole numbers"),
        (range(21), "-p loss=absolute"),
    ],
)
def test_numbers_choose_the_square_loss(
    written: tuple[Any, ...], hint: str, tmp_path: Path
) -> None:
    file = outcomes(tmp_path / "d.csv", *written)
    found = told(file, "--target", "y")
    assert found["loss"]["name"] == "square"
    assert found["loss"]["chosen"]["outcomes"] == "numbers"
    assert hint in found["loss"]["chosen"]["words"]
    assert hint in " ".join(done("run", file, "--target", "y").split())


@pytest.mark.parametrize("value", [0, 2.5, "yes"])
def test_a_target_of_one_value_is_said_to_teach_nothing(value: Any, tmp_path: Path) -> None:
    text = done("run", outcomes(tmp_path / "d.csv", *[value] * 50), "--target", "y")
    assert f"always {value}: there is nothing to learn" in " ".join(text.split())


def test_several_classes_are_listed_in_the_order_of_their_names(tmp_path: Path) -> None:
    for names in ((10, 9, 100), ("pear", "fig", "apple")):
        file = outcomes(tmp_path / "d.csv", *names * 20)
        found = told(file, "--target", "y", "--task", "classes")
        listed = [each["class"] for each in found["measures"]["recall"]]
        assert listed == list(map(str, sorted(names)))
        counts = found["measures"]["confusion"]
        assert [sum(row) for row in counts] == [
            20 - (k == sorted(names).index(names[0])) for k in range(3)
        ]
        assert [row[k] for k, row in enumerate(counts)] == [
            each["right"] for each in found["measures"]["recall"]
        ]
    text = " ".join(done("run", file, "--target", "y").split())
    assert "apple, fig, pear; uses auto-classes, the multiclass version of auto" in text
    assert "the norm of the learner" in text


def test_as_many_features_as_rows_explain_a_perfect_hindsight(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    rng = np.random.default_rng(0)
    np.savetxt(
        file, rng.normal(size=(8, 10)), delimiter=",", header="y,a,b,c,d,e,f,g,h,i", comments=""
    )
    assert "as many features as rows" in " ".join(done("run", file, "--target", "y").split())
    assert "as many features as rows" not in done(
        "run", outcomes(file, *range(30)), "--target", "y"
    )


@pytest.mark.parametrize("loss", ["square", "absolute", "logistic", "quantile"])
def test_a_loss_that_is_given_is_taken(loss: str, tmp_path: Path) -> None:
    file = outcomes(tmp_path / "d.csv", *(0, 1) * 30)
    found = told(file, "--target", "y", "-p", f"loss={loss}")
    assert found["loss"]["name"] == loss
    assert found["loss"]["chosen"] is None
    assert "takes them as numbers" not in done("run", file, "--target", "y", "-p", f"loss={loss}")


def test_other_learners_keep_their_own_loss(tmp_path: Path) -> None:
    file = outcomes(tmp_path / "d.csv", *(0, 1) * 30)
    found = told(file, "--target", "y", "--learner", "gradient-descent", "-p", "rate=0.01")
    assert (found["loss"]["name"], found["loss"]["chosen"]) == ("square", None)


@pytest.mark.parametrize(("odd", "usual"), [(2, (0, 1)), (-1, (0, 1)), (0, (-1, 1)), (0.5, (0, 1))])
def test_an_outcome_that_is_no_label_after_all(odd: float, usual: Any, tmp_path: Path) -> None:
    file = outcomes(tmp_path / "d.csv", *usual * 500, odd, *usual)
    said = refused("run", file, "--target", "y")
    assert "line 1002: the label is" in said
    assert "the first were taken for two classes" in said
    assert "begin with --task numbers" in said
    assert told(file, "--target", "y", "--task", "numbers")["data"]["rows"] == 1003
    skipped = told(file, "--target", "y", "--on-error", "skip")["data"]["skipped"]
    assert skipped["count"] == 1
    assert "begin with --task numbers" in skipped["first"][0]["reason"]
    plain = refused("run", file, "--target", "y", "-p", "loss=logistic")
    assert "taken for" not in plain


def test_a_bad_cell_says_nothing_of_labels(tmp_path: Path) -> None:
    file = outcomes(tmp_path / "d.csv", *(0, 1) * 500, "?")
    assert "taken for" not in refused("run", file, "--target", "y")


def test_a_setting_of_another_learner_names_the_way_there() -> None:
    said = " ".join(refused("run", "d.csv", "-p", "rate=0.1", code=2).split())
    assert "auto has no parameter 'rate'" in said
    assert "use --learner to choose another" in said
    assert "loss" in refused("run", "d.csv", "-p", "loss=hinge", code=2)


def test_nothing_and_nothing_but_bad_rows(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,y\n", encoding="utf-8")
    assert "there are no examples in it" in refused("run", file, "--target", "y")
    file.write_text("a,y\n" + "1,\n" * 5, encoding="utf-8")
    asked = ["--target", "y", "--missing", "stop", "--on-error", "skip"]
    assert "none of its 5 rows could be used" in refused("run", file, *asked)
    file.write_text("a,y\n,yes\n,no\n,maybe\n", encoding="utf-8")
    for learner in ("auto", "perceptron", "logistic"):
        said = refused("run", file, *asked, "--learner", learner)
        assert "none of its 3 rows could be used" in said


def test_a_run_that_goes_on_keeps_its_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # From the second block on nothing would show that these are labels.
    file = outcomes(tmp_path / "d.csv", *(0, 1) * 400, *(1,) * 800)
    kept, args = tmp_path / "kept", ["--target", "y", "--predictions", tmp_path / "p.csv"]
    whole = told(file, *args)
    rows = (tmp_path / "p.csv").read_text(encoding="utf-8")
    ended = stopped(monkeypatch, 3, signal.SIGINT, "run", file, *args, "--checkpoint", kept)
    assert ended.code == 130
    other = refused("run", file, *args, "-p", "loss=square", "--resume", kept)
    assert "made with other options: parameters: loss=logistic then, loss=square now" in other
    found = told(file, *args, "--resume", kept)
    assert found["loss"] == whole["loss"]
    assert (tmp_path / "p.csv").read_text(encoding="utf-8") == rows


def test_a_model_predicts_from_its_file_alone(tmp_path: Path) -> None:
    old, new = data.csv(tmp_path / "a.csv", data.frame()), tmp_path / "b.csv"
    table = data.frame(seed=1)
    data.csv(new, table.drop(columns=["sold", "late"]))
    done("run", old, *LATE, "--model", tmp_path / "m", "--quiet")
    done("predict", tmp_path / "m", new, "--predictions", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv")
    assert ((found["probability"] > 0) & (found["probability"] < 1)).all()
    assert set(found["prediction"]) == {"yes", "not yes"}
    assert np.mean((found["prediction"] == "yes") == (table["late"] == "yes")) > 0.9
    done("run", old, "--target", "sold", "--drop", "late", "--model", tmp_path / "n", "--quiet")
    done("predict", tmp_path / "n", new, "--predictions", tmp_path / "q.csv")
    missed = pd.read_csv(tmp_path / "q.csv")["prediction"] - table["sold"]
    assert np.sqrt(np.mean(missed**2)) < 0.2


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_no_unit_needs_scaling(unit: float, tmp_path: Path) -> None:
    table = data.numbers()
    file = data.csv(tmp_path / "d.csv", table.assign(x1=table["x1"] * unit))
    found = told(file, "--target", "y", "--drop", "label")
    assert found["loss"]["total"] < 0.2 * found["constant"]["total"]


def test_standard_input_chooses_too() -> None:
    rows = "".join(f"{k % 5},{k % 2}\n" for k in range(200))
    ended = process("run", "-", "--format", "csv", "--target", "y", stdin=f"x,y\n{rows}".encode())
    assert ended.returncode == 0
    assert "0 and 1" in ended.stdout.decode()


def test_quiet_is_quiet(tmp_path: Path) -> None:
    file = outcomes(tmp_path / "d.csv", *(0, 1) * 30)
    ended = command("run", file, "--target", "y", "--quiet")
    assert (ended.out, ended.err) == ("", "")


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, -1.0])))
def test_different_values_are_found(values: list[float]) -> None:
    found, wanted = different(np.array(values)), sorted(set(values))
    if len(wanted) <= 3:
        assert found == wanted
    else:
        assert len(found) == 3
        assert set(found) < set(wanted)


@pytest.mark.parametrize(
    ("written", "name", "loss"),
    [
        (("up", "down"), "mondrian-forest", "logistic"),
        ((0, 1), "mondrian-forest", "logistic"),
        (("up", "down", "flat"), "mondrian-forest-classes", "softmax"),
        ((0.5, 1, 2.5), "mondrian-forest", "square"),
    ],
)
def test_a_forest_chooses_its_loss_as_auto_does(
    written: tuple[Any, ...], name: str, loss: str, tmp_path: Path
) -> None:
    file, proof = outcomes(tmp_path / "d.csv", *written * 30), tmp_path / "proof.json"
    args = "--target", "y", "--learner", "mondrian-forest", "-p", "trees=3"
    found = told(file, *args, "--certificate", proof)
    assert (found["learner"]["name"], found["loss"]["name"]) == (name, loss)
    assert found["learner"]["params"]["trees"] == 3
    done("verify", proof, file)
    said = told(file, "--target", "y")["loss"]["chosen"]["outcomes"]
    assert found["loss"]["chosen"]["outcomes"] == said


def test_a_loss_that_is_given_to_a_forest_is_kept(tmp_path: Path) -> None:
    file = outcomes(tmp_path / "d.csv", *(0, 1) * 30)
    found = told(file, "--target", "y", "--learner", "mondrian-forest", "-p", "loss=square")
    assert found["loss"]["name"] == "square"


def test_text_outcomes_name_the_loss_too(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,y\n1,yes\n2,no\n3,yes\n")
    said = refused("run", file, "--target", "y", "--learner", "gradient-descent")
    cure = "--positive yes -p loss=logistic"
    assert cure in said
    done("run", file, "--target", "y", "--learner", "gradient-descent", *cure.split(), "-q")
    said = refused("run", file, "--target", "y", "--learner", "widrow-hoff", "-p", "rate=0.1")
    assert "as in --positive yes" in said
    assert "loss=" not in said
