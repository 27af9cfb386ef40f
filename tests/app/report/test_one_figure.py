"""One figure has one value: wherever a run states its mistakes or its share of a bound."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.app.run.commands import done

SHARE = re.compile(r"(?:-?[\d.,e+-]+%|nothing)(?= of the bound| is used| used)")


def table(path: Path, rows: int = 120) -> Path:
    """Write examples with labels; some rows are all zero, so that their score is 0."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(rows, 2)).round(2)
    y = (X.sum(axis=1) + draw.normal(size=rows) > 0).astype(int)
    X[::17] = 0.0
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,label", *lines]) + "\n")
    return path


def wrong_in(path: Path) -> int:
    """Count the mistakes in a file of predictions: a score of 0, or a chance of ½, is one."""
    head, *rows = (line.split(",") for line in path.read_text().split())
    middle, last = (0.5, head.index("probability")) if "probability" in head else (0.0, -1)
    outcome = head.index("outcome")
    sides = [(float(row[last]) - middle, float(row[outcome]) - 0.5) for row in rows]
    return sum(said * true <= 0 for said, true in sides)


@pytest.mark.parametrize("learner", ["logistic", "perceptron", "hinge"])
def test_all_figures_of_mistakes_agree(learner: str, tmp_path: Path) -> None:
    data, page, file = table(tmp_path / "d.csv"), tmp_path / "r.html", tmp_path / "p.csv"
    given = ("run", data, "--target", "label", "--no-intercept", "--learner", learner)
    told = json.loads(
        done(*given, "--json", "--report", page, "--predictions", file, "--certificate",
             tmp_path / "c.json")
    )  # fmt: skip
    text, html = done(*given), page.read_text()
    stated = json.loads((tmp_path / "c.json").read_text())["loss"]["mistakes"]
    (_, raised), (missed, _) = told["outlook"]["confusion"]
    assert 0 < stated < 120
    assert stated == wrong_in(file) == raised + missed
    assert stated == told["loss"]["mistakes"] == told["curve"]["mistakes"][-1]
    assert told["loss"]["accuracy"] == pytest.approx(1 - stated / 120)
    assert told["certificate"]["loss"]["mistakes"] == stated
    assert re.search(rf"\b{stated} mistakes", text)
    assert f">{stated} mistakes; " in html
    assert f'mistakes</th><td class="number">{stated}</td>' in html
    cells = [int(n) for n in re.findall(r'<td class="wrong"[^>]*><b>(\d+)</b>', html)]
    assert sum(cells) == stated


def shares_in(text: str) -> set[str]:
    """Return the shares of a bound that a text or page states."""
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>|[│╭╰─╮╯]", " ", text)) + " ".join(
        re.findall(r'aria-label="([^"]*)"', text)
    )
    return set(SHARE.findall(plain))


def test_a_regret_below_zero_uses_nothing_of_the_bound_everywhere(tmp_path: Path) -> None:
    """The labels change sides, so that any learner does better than all fixed predictors."""
    lines = [f"1,{1 if t // 60 % 2 else -1}" for t in range(600)]
    data = tmp_path / "d.csv"
    data.write_text("\n".join(["x,y", *lines]) + "\n")
    page, file = tmp_path / "r.html", tmp_path / "c.json"
    given = ("run", data, "--target", "y", "--no-intercept", "--learner", "gradient-descent", "-p",
             "rate=0.5", "-p", "radius=1", "--report", page, "--certificate", file)  # fmt: skip
    text = done(*given)
    promise = json.loads(file.read_text())["theorem"]
    assert promise["measured"] < 0 < promise["bound"]
    assert shares_in(text) | shares_in(page.read_text()) == {"0%"}
