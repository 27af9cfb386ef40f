"""Dates and times become features of the calendar, those of Python's own."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import noregret
from noregret import DataWarning, streams
from noregret.base.calendar_features import WEEKDAYS, calendar
from noregret.errors import BadExample
from tests.app.run.commands import done
from tests.thorough import draws

from .files import assert_same, blocks_of, game_of, refused

START = datetime(2024, 2, 27, 22, 30)
TIMES = [START + timedelta(hours=7 * k) for k in range(60)]


def features_of(name: str, when: datetime, hours: bool = True) -> dict[str, float]:
    """Return the features of a time, by Python's own calendar."""

    def wave(part: str, turn: float) -> dict[str, float]:
        angle = 2 * math.pi * turn
        return {
            f"{name}.{part}.sin": round(math.sin(angle), 12),
            f"{name}.{part}.cos": round(math.cos(angle), 12),
        }

    seconds = (when.replace(tzinfo=UTC) - datetime(2000, 1, 1, tzinfo=UTC)).total_seconds()
    found = {name: seconds / (365.2425 * 86400), f"{name}.month={when.month}": 1.0}
    found[f"{name}.weekday={when:%A}"] = 1.0
    found |= wave("weekday", when.weekday() / 7) | wave("month", (when.month - 1) / 12)
    if hours:
        found[f"{name}.hour={when.hour}"] = 1.0
        found |= wave("hour", (when.hour * 60 + when.minute) / 1440)
    return found


def check(file: Path, expected: list[dict[str, float]], **options: object) -> None:
    for (x, _), row in zip(streams.read(file, "y", **options), expected, strict=True):
        assert x.keys() == row.keys()
        np.testing.assert_allclose(
            [x[name] for name in row], [*row.values()], rtol=1e-12, atol=2e-12
        )


@draws(100)
@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_the_calendar_is_pythons(when: datetime) -> None:
    seconds = (when - datetime(1970, 1, 1)).total_seconds()
    _, codes = calendar("t", np.array([math.floor(seconds)], dtype=float), False)
    found = [int(codes[part][0]) for part in ("hour", "weekday", "month")]
    assert found == [when.hour, when.weekday(), when.month - 1]
    assert WEEKDAYS[when.weekday()] == f"{when:%A}"


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%SZ"])
@pytest.mark.parametrize("size", [60, 1 << 22])
def test_times_in_csv(form: str, size: int, tmp_path: Path) -> None:
    lines = ["when,y", *(f"{when:{form}},1" for when in TIMES)]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n", "utf-8")
    with blocks_of(size):
        check(tmp_path / "d.csv", [features_of("when", when) for when in TIMES])


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.000Z", "%Y-%m-%d"])
@pytest.mark.parametrize("size", [60, 1 << 22])
def test_times_in_json(form: str, size: int, tmp_path: Path) -> None:
    rows = [{"when": f"{when:{form}}", "y": 1} for when in TIMES]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    days = [datetime(when.year, when.month, when.day) for when in TIMES]
    dates = form.endswith("d")
    with blocks_of(size):
        check(
            tmp_path / "d.jsonl",
            [features_of("when", when, not dates) for when in (days if dates else TIMES)],
        )


def test_numbers_in_json_are_times_if_that_is_said(tmp_path: Path) -> None:
    rows = [{"when": int(when.replace(tzinfo=UTC).timestamp() * 1e3), "y": 1} for when in TIMES]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    check(tmp_path / "d.jsonl", [features_of("when", when) for when in TIMES], time="when")


def test_times_in_json_may_be_names_and_must_stay_times(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"when": "2024-12-31", "y": 1}\n{"when": "soon", "y": 2}\n', "utf-8")
    names = [x for x, _ in streams.read(file, "y", categories="when")]
    assert names == [{"when=2024-12-31": 1.0}, {"when=soon": 1.0}]
    with pytest.raises(BadExample, match="'soon', not a date or time") as caught:
        list(streams.read(file, "y"))
    assert caught.value.line == 2


def test_a_game_over_times_in_json_is_confirmed_and_predicted_from_raw_rows(tmp_path: Path) -> None:
    rows = [{"at": f"{when:%Y-%m-%dT%H:%M:%SZ}", "y": when.hour} for when in TIMES]
    file, saved = tmp_path / "d.jsonl", tmp_path / "m.model"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    where = tmp_path / "c.json"
    done("run", file, "--target", "y", "--certificate", where, "--model", saved)
    assert "time=at" in json.loads(where.read_text())["data"]["transforms"]
    assert noregret.verify(where, file).confirmed
    made = done("predict", saved, file, "--predictions", tmp_path / "p.csv")
    assert made is not None
    model = noregret.load(saved)
    told = [line.split(",")[1] for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert [float(each) for each in told[:5]] == pytest.approx(
        [model.predict_one({"at": row["at"]}) for row in rows[:5]], rel=1e-12
    )


def test_dates_have_no_hours(tmp_path: Path) -> None:
    lines = ["day,y", *(f"{when:%Y-%m-%d},1" for when in TIMES)]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n", "utf-8")
    days = [datetime(when.year, when.month, when.day) for when in TIMES]
    check(tmp_path / "d.csv", [features_of("day", day, hours=False) for day in days])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_in_parquet_are_those_in_csv(unit: str, zone: str | None, tmp_path: Path) -> None:
    column = pa.array(TIMES, pa.timestamp(unit, zone))
    parquet.write_table(pa.table({"when": column, "y": [1.0] * 60}), tmp_path / "d.parquet")
    check(tmp_path / "d.parquet", [features_of("when", when) for when in TIMES])
    days = pa.array([when.date() for when in TIMES], pa.date32())
    parquet.write_table(pa.table({"day": days, "y": [1.0] * 60}), tmp_path / "e.parquet")
    found = [datetime(when.year, when.month, when.day) for when in TIMES]
    check(tmp_path / "e.parquet", [features_of("day", day, hours=False) for day in found])


@pytest.mark.filterwarnings("ignore:.*looks like times since 1970")
@pytest.mark.parametrize("unit", [1, 1000, 10**6, 10**9])
def test_epochs_are_times_if_they_are_named(unit: int, tmp_path: Path) -> None:
    seconds = [int(when.replace(tzinfo=UTC).timestamp()) for when in TIMES]
    lines = ["when,y", *(f"{second * unit},1" for second in seconds)]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n", "utf-8")
    check(tmp_path / "d.csv", [features_of("when", when) for when in TIMES], time="when")
    assert game_of(tmp_path / "d.csv", target="y").learner.features == ["when"]


def test_a_missing_time_is_told_by_its_column(tmp_path: Path) -> None:
    text = "day,y\n2024-01-01,1\n,2\n2024-01-03,1\n"
    (tmp_path / "d.csv").write_text(text, "utf-8")
    assert "line 3: column 'day' is empty" in refused(tmp_path / "d.csv", target="y")
    rows = [x for x, _ in streams.read(tmp_path / "d.csv", "y", missing="indicator")]
    assert rows[1]["day=missing"] == 1.0
    assert {name for name, value in rows[1].items() if value} == {"day", "day=missing"}
    assert rows[1]["day"] == rows[0]["day"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("missing", ["zero", "indicator"])
@pytest.mark.parametrize("size", [40, 1 << 22])
def test_a_missing_date_is_where_the_last_learned_one_was(
    kind: str, missing: str, size: int, tmp_path: Path
) -> None:
    """And nowhere near the year 2000, where 0 is; rows without an outcome do not count."""
    days = [None, "2024-01-01", None, "2024-03-01", None, "2025-01-01", None, None, "2024-02-01"]
    outcomes = [1.0, 2, 3, None, 5, 6, 7, 8, 9]
    file = tmp_path / f"d.{kind}"
    rows = [{"day": d, "a": k, "y": y} for k, (d, y) in enumerate(zip(days, outcomes, strict=True))]
    if kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), file)
    else:
        lines = [",".join("" if v is None else str(v) for v in row.values()) for row in rows]
        file.write_text("\n".join(["day,a,y", *lines]) + "\n")
    with blocks_of(size):
        found = [x.get("day", 0.0) for x, _ in streams.read(file, "y", missing=missing)]
    at = [0.0, 24.0, 24.0, 24.16, 24.0, 25.0, 25.0, 25.0, 24.09]
    assert found == pytest.approx(at, abs=0.01)


def test_gaps_are_filled_in_as_learned_after_loading(tmp_path: Path) -> None:
    lines = [f"2024-01-{k:02},{k % 5},{k}" for k in range(1, 29)]
    (tmp_path / "d.csv").write_text("\n".join(["day,a,y", *lines]) + "\n")
    done("run", tmp_path / "d.csv", "--target", "y", "--model", tmp_path / "m", "-q")
    model = noregret.load(tmp_path / "m")
    gap = model.predict_one({"day": None, "a": 1})
    (tmp_path / "more.csv").write_text("day,a,y\n,1,\n")
    done("predict", tmp_path / "m", tmp_path / "more.csv", "--predictions", tmp_path / "p.csv")
    assert float((tmp_path / "p.csv").read_text().splitlines()[1].split(",")[1]) == gap
    assert abs(gap - model.predict_one({"day": "2024-01-28", "a": 1})) < 14


@pytest.mark.parametrize("cell", ["soon", "2024-13-01", "-0044-03-15", "2024-01-01 10:00", "1e400"])
def test_what_is_not_a_date_is_told_by_line(cell: str, tmp_path: Path) -> None:
    text = "day,y\n" + "2024-01-01,1\n" * 30 + f"{cell},1\n2024-01-02,1\n"
    (tmp_path / "d.csv").write_text(text, "utf-8")
    with blocks_of(60):
        said = refused(tmp_path / "d.csv", target="y")
        assert "line 32: column 'day'" in said
        assert game_of(tmp_path / "d.csv", target="y", on_error="skip").rounds == 31


def test_text_is_no_time(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("day,y\nsoon,1\nlater,2\n", "utf-8")
    assert "'day' holds text, not times" in refused(tmp_path / "d.csv", target="y", time="day")
    assert "no column 'dya'" in refused(tmp_path / "d.csv", target="y", time="dya")


def test_times_can_be_names(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("day,y\n2024-01-01,1\n2024-01-02,2\n", "utf-8")
    game = game_of(tmp_path / "d.csv", target="y", categories="day")
    assert game.learner.features == ["day=2024-01-01", "day=2024-01-02"]


def test_the_command_verifies_predicts_and_resumes_blocks(tmp_path: Path) -> None:
    days = [date(2024, 1, 1) + timedelta(k) for k in range(90)]
    lines = ["day,a,y", *(f"{day},{k % 4},{day.weekday()}" for k, day in enumerate(days))]
    file = tmp_path / "d.csv"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    whole = game_of(file, target="y")
    with blocks_of(70):
        assert_same(game_of(file, target="y"), whole)
    cert, model = tmp_path / "c.json", tmp_path / "m.model"
    done("run", file, "--target", "y", "--certificate", cert, "--model", model)
    assert "CONFIRMED" in done("verify", cert, file)
    found = done("predict", model, file).splitlines()
    assert len(found) == 91
    assert json.loads(cert.read_text("utf-8"))["data"]["features"] > 10


def test_dates_that_begin_with_day_or_month_are_categories_and_told(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("day,code,y\n01/02/2023,1.2.3,1\n12/02/2023 10:30,1.2.4,2\n")
    with pytest.warns(DataWarning, match="'day' holds dates such as '01/02/2023'") as told:
        features = game_of(tmp_path / "d.csv", target="y").learner.features
    assert "day=01/02/2023" in features
    assert len(told) == 1
    assert "drop='day'" in str(told[0].message)
