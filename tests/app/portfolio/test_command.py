"""``noregret portfolio``: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.portfolios import EgPortfolio, UniformRebalanced, UniversalPortfolio
from noregret.proof.game.price_relatives import relatives_of
from tests.app.run.commands import done, refused
from tests.portfolios.tables import Floats, alternating, usual
from tests.thorough import sized

NAMES = ["gold", "oil", "tin"]
MANY_ROWS = "20,30\n" * sized(4_000, full=40_000)


def write(path: Path, X: Floats, names: list[str], dates: bool = False) -> Path:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*(["day"] if dates else []), *names])
        for k, row in enumerate(X.tolist()):
            out.writerow([*([f"2020-01-{k + 1:02d}"] if dates else []), *map(repr, row)])
    return path


@pytest.fixture
def relatives(tmp_path: Path) -> Path:
    return write(tmp_path / "relatives.csv", usual(120, 3, width=0.05), NAMES)


def figures(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done("portfolio", *arguments, "--json"))
    return found


def test_the_summary_compares_with_hindsight(tmp_path: Path) -> None:
    file = write(tmp_path / "cover.csv", alternating(40, 2), ["cash", "coin"])
    said = done("portfolio", file, "--learner", "uniform-rebalanced")
    assert "uniform-rebalanced on cover.csv" in said
    assert f"{(9 / 8) ** 20:.4g}" in said
    assert re.search(r"best asset +1 ", said)
    assert "cash 50.0%, coin 50.0%" in " ".join(said.split())
    assert "BOUND HOLDS (theorem uniform-rebalanced)" in said


def test_figures_are_those_of_python(relatives: Path) -> None:
    X = np.loadtxt(relatives, delimiter=",", skiprows=1)
    found = figures(relatives, "-p", "rate=0.3")
    strategy = EgPortfolio(rate=0.3)
    certificate = nr.play(strategy, X).certificate()
    assert found["wealth"] == pytest.approx(strategy.wealth, rel=1e-12)
    assert found["regret"]["upper"] == pytest.approx(certificate.regret.upper, abs=1e-9)
    assert certificate.theorem is not None
    assert found["theorem"]["bound"] == pytest.approx(certificate.theorem.bound)
    assert found["theorem"]["holds"] is True
    wealth = np.log(X).sum(axis=0)
    assert found["best_asset"]["name"] == NAMES[int(wealth.argmax())]
    assert found["uniform_rebalanced"]["log_wealth"] == pytest.approx(np.log(X.mean(axis=1)).sum())
    assert found["best_rebalanced"]["log_wealth"] == pytest.approx(-certificate.hindsight.loss)
    assert found["data"]["assets"] == NAMES


def test_everything_is_written_and_the_certificate_confirmed(
    relatives: Path, tmp_path: Path
) -> None:
    kinds = {"certificate": "c.json", "report": "r.html", "allocations": "a.csv", "model": "m"}
    asked = [word for kind, name in kinds.items() for word in (f"--{kind}", tmp_path / name)]
    said = done("portfolio", relatives, "--learner", "ons-portfolio", *asked)
    assert all(kind in said for kind in kinds)
    assert "CONFIRMED" in done("verify", tmp_path / "c.json", relatives)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0] == "round,gold,oil,tin"
    assert len(lines) == 121
    shares = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1)
    assert shares[:, 0].tolist() == list(range(1, 121))
    assert shares[:, 1:].sum(axis=1) == pytest.approx(1.0)
    assert shares[0, 1:] == pytest.approx(1 / 3)
    X = np.loadtxt(relatives, delimiter=",", skiprows=1)
    model = nr.load(tmp_path / "m")
    assert model.log_wealth == pytest.approx(np.log((shares[:, 1:] * X).sum(axis=1)).sum())
    page = (tmp_path / "r.html").read_text()
    assert "http" not in page.replace("http-equiv", "")
    assert "Log-wealth" in page
    assert 'class="area layer' in page


def test_prices_and_dates(tmp_path: Path) -> None:
    prices: Floats = np.cumprod(np.vstack([np.full((1, 3), 10.0), usual(20, 3)]), axis=0)
    file = write(tmp_path / "prices.csv", prices, NAMES, dates=True)
    a, c, r = tmp_path / "a.csv", tmp_path / "c.json", tmp_path / "r.csv"
    asked = ("--prices", "--date", "day", "--allocations", a, "--relatives", r)
    found = figures(file, *asked, "--certificate", c, "--report", tmp_path / "r.html")
    strategy = EgPortfolio()
    strategy.learn_many(relatives_of(prices))
    assert found["wealth"] == pytest.approx(strategy.wealth, rel=1e-12)
    assert found["data"]["rounds"] == 20
    assert a.read_text().splitlines()[1].startswith("2020-01-02,")
    page = (tmp_path / "r.html").read_text()
    assert "2020-01-01 – 2020-01-21" in page
    assert page.count("rounds, from 2020-01-01 to 2020-01-21") == 2
    assert "CONFIRMED: every figure" in done("verify", c, file)
    assert np.loadtxt(r, delimiter=",", skiprows=1).tolist() == relatives_of(prices).tolist()


def test_prices_as_german_tables_have_them(tmp_path: Path) -> None:
    file, a = tmp_path / "kurse.csv", tmp_path / "a.csv"
    lines = ["Börsentag;SAP;BMW"]
    for day in range(1, 29):
        prices = f"{100 + day / 2:.1f};{90 + day**2 / 4:.2f}".replace(".", ",")
        lines.append(f"{day:02}.01.2023;{prices}")
    file.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    found = figures(file, "--prices", "--date", "Börsentag", "--allocations", a)
    assert found["data"]["rounds"] == 27
    assert a.read_text().splitlines()[1].startswith("02.01.2023,")


@pytest.mark.parametrize("scale", [60.0, 0.05])
def test_prices_that_are_taken_for_relatives_are_noted(tmp_path: Path, scale: float) -> None:
    prices: Floats = np.cumprod(usual(80, 3, width=0.02), axis=0) * np.float64(scale)
    file, report = write(tmp_path / "prices.csv", prices, NAMES), tmp_path / "r.html"
    said = "the numbers look like prices; --prices converts them to relatives"
    told = " ".join(done("portfolio", file).split())
    assert f"NOTHING TO COMPARE T{said[1:]}." in told
    assert "PROMISE KEPT" not in told
    assert figures(file, "--report", report)["note"] == said
    assert said in report.read_text()
    assert "badge good" not in report.read_text()
    assert said[1:] not in done("portfolio", file, "--prices")
    assert figures(file, "--prices", "--report", report)["note"] is None
    assert said not in report.read_text()


def test_relatives_are_not_taken_for_prices(relatives: Path) -> None:
    assert "look like prices" not in done("portfolio", relatives)
    assert figures(relatives)["note"] is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "date,a\n2020-01-01,1\n2020-01-02,1.1\n",
            "name the column of dates (--date date), or drop the asset (--drop date)",
        ),
        (
            "my day,a\n2020-01-01,1\n",
            "name the column of dates (--date 'my day'), or drop the asset (--drop 'my day')",
        ),
        (
            "day,a\nmon,1\ntue,1.1\n",
            "that hold text (--drop), or name the column of dates (--date)",
        ),
        ("gold,oil\n20,30\n21,\n", "line 3: column 'oil' is empty: fill it in, or drop the asset"),
        ("gold,oil\n20,30\n21,\n", "(--drop oil)"),
        (
            "gold,oil\n" + MANY_ROWS + "20,much\n",
            "or drop the asset (--drop oil)",
        ),
    ],
)
def test_refusals_name_options_that_there_are(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(text)
    for options in ((), ("--prices",)):
        refusal = refused("portfolio", file, *options)
        assert said in " ".join(refusal.split())
        assert not any(word in refusal for word in ("--categories", "--missing", "target"))


def test_columns_are_chosen(relatives: Path, tmp_path: Path) -> None:
    both = figures(relatives, "--keep", "gold", "--keep", "tin", "--certificate", tmp_path / "c")
    assert both["data"]["assets"] == ["gold", "tin"]
    assert "CONFIRMED" in done("verify", tmp_path / "c", relatives)
    assert figures(relatives, "--drop", "oil")["wealth"] == both["wealth"]
    X = np.loadtxt(relatives, delimiter=",", skiprows=1)[:, [0, 2]]
    exact = UniversalPortfolio()
    exact.learn_many(X)
    found = figures(relatives, "--drop", "oil", "--learner", "universal-portfolio")
    assert found["wealth"] == pytest.approx(exact.wealth, rel=1e-12)


def test_costs(relatives: Path) -> None:
    free, paying = figures(relatives), figures(relatives, "--cost", "0.01")
    assert paying["wealth"] < free["wealth"]
    assert paying["theorem"]["bound"] is None
    assert figures(relatives, "-p", "cost=0.01")["wealth"] == paying["wealth"]
    said = done("portfolio", relatives, "--cost", "0.01")
    assert "trading costs of 1%" in said
    assert "trading costs = 0" in said


def test_wealth_beyond_all_numbers(tmp_path: Path) -> None:
    X = np.full((40, 2), 1e290)
    X[::2, 0] = 1e-290
    file = write(tmp_path / "wild.csv", X, ["a", "b"])
    for learner in ("eg-portfolio", "ons-portfolio", "buy-and-hold", "universal-portfolio"):
        report = tmp_path / "r.html"
        found = figures(file, "--learner", learner, "--report", report)
        assert found["wealth"] is None
        assert math.isfinite(found["log_wealth"])
        assert "nan" not in report.read_text().lower()
        assert "e^" in done("portfolio", file, "--learner", learner)


def test_quiet_says_nothing(relatives: Path) -> None:
    assert done("portfolio", relatives, "--quiet") == ""


def test_one_round_of_one_asset(tmp_path: Path) -> None:
    file = write(tmp_path / "one.csv", np.array([[1.5]]), ["a"])
    for learner in ("eg-portfolio", "ons-portfolio", "universal-portfolio", "follow-the-leader"):
        found = figures(file, "--learner", learner, "--report", tmp_path / "r.html")
        assert found["wealth"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("1.0,-1.0", "line 3: column 'b' is -1"),
        ("1.0,", "line 3"),
        ("0,0", "line 3: every relative is 0"),
        ("1.0,much", "(--drop)"),
        ("1.0,nan", "line 3"),
        ("1.0", "line 3"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, cells: str, words: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(f"a,b\n1.0,1.1\n{cells}\n")
    c = tmp_path / "c.json"
    said = refused("portfolio", file, "--certificate", c)
    assert words in said
    assert str(file) in said
    assert not c.exists()
    refused("portfolio", file, "--prices")


def test_wrong_usage(relatives: Path, tmp_path: Path) -> None:
    for arguments, words in (
        (("--learner", "hedge"), "hedge"),
        (("--learner", "eg-portfolo"), "did you mean eg-portfolio"),
        (("-p", "rate=-1"), "rate must be"),
        (("-p", "speed=1"), "no parameter 'speed'"),
        (("--cost", "cheap"), "--cost must be a number"),
        (("--cost", "2"), "cost must be"),
        (("--cost", "0.1", "-p", "cost=0.1"), "twice"),
        (("--relatives", tmp_path / "r.csv"), "needs --prices"),
        (("--keep", "gold", "--drop", "oil"), "not both"),
    ):
        assert words in refused("portfolio", relatives, *arguments, code=2)


def test_files_that_cannot_be_read_or_written(relatives: Path, tmp_path: Path) -> None:
    assert "nowhere.csv" in refused("portfolio", tmp_path / "nowhere.csv")
    assert "already taken" in refused("portfolio", relatives, "--report", relatives, code=2)
    assert "no folder" in refused("portfolio", relatives, "--report", tmp_path / "no" / "r.html")
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n")
    assert "empty.csv" in refused("portfolio", empty)
    assert "empty.csv" in refused("portfolio", empty, "--prices")
    assert "'when'" in refused("portfolio", relatives, "--date", "when")
    dated = write(tmp_path / "dated.csv", usual(3, 2), ["a", "b"], dates=True)
    assert "--date day" in refused("portfolio", dated)
    header, *rows = dated.read_text().splitlines()
    dated.write_text("\n".join([header, *reversed(rows)]))
    said = refused("portfolio", dated, "--date", "day")
    assert "from 2020-01-03 to 2020-01-01" in said
    assert "oldest first" in said


def test_relatives_passed_as_prices_are_noticed(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    relatives = np.exp(0.02 * draw.standard_normal((200, 4)))
    names = ",".join("abcd")
    for name, table, noticed in (
        ("relatives", relatives, True),
        ("prices", 10 * np.cumprod(relatives, axis=0), False),
    ):
        file = tmp_path / f"{name}.csv"
        np.savetxt(file, table, delimiter=",", header=names, comments="")
        said = " ".join(done("portfolio", file, "--prices").split())
        assert ("leave out --prices" in said) == noticed


def test_equal_and_best_shares_pay_the_same_costs(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    relatives = np.exp(0.05 * draw.standard_normal((60, 3)))
    file = tmp_path / "relatives.csv"
    np.savetxt(file, relatives, "%.17g", delimiter=",", header="a,b,c", comments="")
    found = json.loads(done("portfolio", file, "--cost", "0.01", "--json"))
    strategy = UniformRebalanced(cost=0.01)
    strategy.learn_many(relatives)
    assert found["uniform_rebalanced"]["log_wealth"] == pytest.approx(strategy.log_wealth)
    best = found["best_rebalanced"]
    assert best["after_costs"] <= best["log_wealth"] + 1e-12
    free = json.loads(done("portfolio", file, "--json"))["best_rebalanced"]
    assert free["after_costs"] == free["log_wealth"]
