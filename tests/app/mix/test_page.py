"""The report of a mix: complete, well-formed, harmless, and free of nonsense."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from noregret.app.results.mix_history import MAX_STRETCHES, Scattered, Thinned
from noregret.data import path as bundled
from tests.app.mix.forecasts import csv, frame
from tests.app.report.extremes import HOSTILE
from tests.app.report.test_page import NONSENSE, drawn, read, visible
from tests.app.run.commands import done


def page(file: Path, target: str, *options: object) -> str:
    report = file.parent / "report.html"
    if not file.parent.name.startswith("test_"):
        raise AssertionError("reports are written beside the tests' own files")
    done("mix", file, "--target", target, "--report", report, "-q", *options)
    return report.read_text(encoding="utf-8")


@pytest.fixture
def approval(tmp_path: Path) -> Path:
    file = tmp_path / "approval.csv"
    file.write_text(bundled("approval").read_text(encoding="utf-8"), encoding="utf-8")
    return file


@pytest.mark.parametrize("learner", ["blend", "fixed-share"])
def test_the_page_is_sound_and_shows_what_it_should(learner: str, approval: Path) -> None:
    html = page(approval, "five_thirty_eight", "--learner", learner, "--drop", "ordinal_date")
    root = read(html)
    text = visible(root)
    assert not NONSENSE.search(text), NONSENSE.search(text)
    assert not [value for value in drawn(root) if NONSENSE.search(value)]
    for words in ("Weights over time", "Leading experts", "Loss relative to the mixture", "Regret"):
        assert words in text
    for name in ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov"):
        assert name in text
    assert not re.search(r"(src|href)\s*=\s*\"(?!#)", html)
    areas = [one for one in root.iter() if (one.get("class") or "").startswith("area ")]
    assert len(areas) == 8
    assert len([one for one in root.iter() if (one.get("class") or "").startswith("segment")]) > 4


def test_names_do_nothing_and_many_experts_are_summed_up(tmp_path: Path) -> None:
    table = frame(60, asleep=0.3)
    names = [re.sub(r"[\0-\x1f\ud800-\udfff]", "", name)[:50] for name in HOSTILE]
    for k, name in enumerate(names * 3):
        table[f"{name}{k}"] = table["north"] + k
    root = read(page(csv(tmp_path, table), "y"))
    assert {one.tag for one in root.iter()} >= {"svg", "path", "table"}
    assert not [one for one in root.iter() if one.tag in ("img", "a", "iframe")]
    assert "others" in visible(root)


def test_a_page_of_series(tmp_path: Path) -> None:
    text = visible(read(page(csv(tmp_path, frame(300, series=20)), "y", "--group", "series")))
    assert "20 series is mixed separately" in text
    assert "rounds of a series" in text
    assert not NONSENSE.search(text)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_page_of_hardly_any_rows(rows: int, tmp_path: Path) -> None:
    root = read(page(csv(tmp_path, frame(rows)), "y"))
    assert not NONSENSE.search(visible(root))
    assert not [value for value in drawn(root) if NONSENSE.search(value)]


# Bounded memory.


@pytest.mark.parametrize("parts", [1, 7, 1000])
def test_thinned_sums_are_the_same_however_rows_come(parts: int) -> None:
    rows = np.random.default_rng(0).normal(size=(5 * MAX_STRETCHES + 3, 2))
    thinned = Thinned(2)
    for part in np.array_split(rows, parts):
        thinned.add(part)
    assert thinned.step == 8
    assert len(thinned.sums) == -(-len(rows) // 8)
    assert thinned.ends[-1] == len(rows)
    expected = np.add.reduceat(rows, np.arange(0, len(rows), 8))
    np.testing.assert_allclose(thinned.sums, expected, atol=1e-9)
    assert thinned.counts.sum() == len(rows)


def test_scattered_rows_are_summed_by_their_rounds() -> None:
    draw = np.random.default_rng(1)
    at = draw.integers(0, 3 * MAX_STRETCHES, 2_000)
    rows = draw.normal(size=(2_000, 1))
    scattered = Scattered(1)
    for part in np.array_split(np.arange(2_000), 9):
        scattered.scatter(rows[part], at[part])
    assert scattered.step == 4
    expected = np.bincount(at // 4, weights=rows[:, 0])
    np.testing.assert_allclose(scattered.sums[:, 0], expected, atol=1e-9)
    assert scattered.counts.tolist() == np.bincount(at // 4).tolist()
