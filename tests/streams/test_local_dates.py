"""Dates such as 31/12/2024: the column tells which part is the day, or else the option does."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import noregret as nr
from noregret import streams
from noregret.errors import BadExample, DataWarning
from noregret.streams.file_formats import parquet as parquet_format
from noregret.streams.local_dates import ORDERS, iso_kind, moment_in, orders_in
from tests.app.run.commands import command, done, refused
from tests.thorough import draws

FORMS = {
    "dmy": ["%d/%m/%Y", "%d.%m.%Y", "%d-%m-%y", "%d/%m/%Y %H:%M", "%d.%m.%Y, %H:%M:%S"],
    "mdy": ["%m/%d/%Y", "%m-%d-%y", "%m/%d/%Y %I:%M %p", "%m/%d/%Y %H:%M:%S"],
    "ymd": ["%Y/%m/%d", "%Y.%m.%d", "%Y/%m/%d %H:%M:%S.%f"],
}
PAIRS = [(order, form) for order, forms in FORMS.items() for form in forms]
TIMES = st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31))


@pytest.mark.parametrize(("order", "form"), PAIRS)
@draws(20)
@given(when=TIMES)
def test_a_date_is_read_as_strptime_reads_it(order: str, form: str, when: datetime) -> None:
    text = when.strftime(form)
    assert moment_in(text, order) == datetime.strptime(text, form)


@draws(30)
@given(when=st.lists(TIMES, min_size=1, max_size=8))
def test_an_order_is_possible_if_every_date_exists_in_it(when: list[datetime]) -> None:
    texts = [each.strftime("%d/%m/%Y") for each in when]
    late = any(each.day > 12 for each in when)
    assert orders_in(texts) == (["dmy"] if late else ["dmy", "mdy"])
    assert orders_in([*texts, "soon"]) == []
    assert orders_in([each.strftime("%d.%m.%Y") for each in when]) == ["dmy"]


@pytest.mark.parametrize(
    "text", ["", "1/2", "32/13/2024", "0/0/2024", "1/2/3456/7", "1/2/024", "1/2.2024", "٣/٤/2024"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert [moment_in(text, order) for order in ORDERS] == [None] * 3


def table(form: str) -> list[dict[str, Any]]:
    start = datetime(2023, 1, 1, 5, 30)
    when = [start + timedelta(days=31 * (k % 12) + k % 28, hours=k) for k in range(60)]
    return [
        {"day": each.strftime(form), "x": k % 7, "y": each.month + 0.1 * (k % 7)}
        for k, each in enumerate(when)
    ]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    frame = pd.DataFrame(rows)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y %I:%M %p", "%Y/%m/%d"])
def test_columns_become_the_features_of_the_same_dates_in_iso(
    tmp_path: Path, suffix: str, form: str
) -> None:
    rows = table(form)
    iso = "%Y-%m-%dT%H:%M:%S" if "%I" in form else "%Y-%m-%d"
    plain = [row | {"day": datetime.strptime(row["day"], form).strftime(iso)} for row in rows]
    found = [
        [*nr.read(written(tmp_path / f"{name}.{suffix}", each), "y")]
        for name, each in (("local", rows), ("iso", plain))
    ]
    assert found[0] == found[1]
    assert any("day.month=2" in x for x, _ in found[0])


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_files_models_and_raw_rows_agree_and_the_certificate_names_the_order(
    tmp_path: Path, suffix: str
) -> None:
    rows = table("%d/%m/%Y")
    data = written(tmp_path / f"data.{suffix}", rows)
    model, proof, told = tmp_path / "model", tmp_path / "proof.json", tmp_path / "told.csv"
    done("run", data, "--target", "y", "--model", model, "--certificate", proof, "--quiet")
    assert "dates=day=dmy" in json.loads(proof.read_text())["data"]["transforms"]
    assert command("verify", proof, data).code == 0
    done("predict", model, data, "--predictions", told)
    learner = nr.load(model)
    raw = [{"day": row["day"], "x": row["x"]} for row in rows]
    ones = [learner.predict_one(row) for row in raw]
    np.testing.assert_array_equal(ones, pd.read_csv(told).prediction)
    np.testing.assert_array_equal(learner.predict_many(pd.DataFrame(raw)), ones)
    with pytest.raises(nr.BadExample, match="not a date"):
        learner.predict_one({"day": "12/31/2024", "x": 1})


def test_a_column_that_tells_nothing_stays_categories_unless_the_option_decides(
    tmp_path: Path,
) -> None:
    rows = [{"day": f"0{k % 9 + 1}/01/2024", "y": k} for k in range(12)]
    data = written(tmp_path / "data.csv", rows)
    ended = command("run", data, "--target", "y", "--json", "--no-hindsight")
    assert "--dates dmy, or --dates mdy" in ended.err
    assert not any("dates" in each for each in json.loads(ended.out)["data"]["transforms"])
    first = next(iter(nr.read(data, "y", dates="mdy")))[0]
    assert first["day.month=1"] == 1
    with pytest.warns(DataWarning, match="cannot be told"):
        next(iter(nr.read(data, "y")))
    with pytest.raises(ValueError, match="dates"):
        nr.read(data, "y", dates="day=ydm")


def test_a_row_that_is_no_date_is_a_bad_row(tmp_path: Path) -> None:
    rows = table("%d/%m/%Y")
    lines = [f"{row['day']},{row['x']},{row['y']}" for row in rows] * 2000
    lines[-1] = "12/31/2024,1,2"
    data = tmp_path / "data.csv"
    data.write_text("\n".join(["day,x,y", *lines]) + "\n")
    ended = command("run", data, "--target", "y", "--quiet", "--no-hindsight")
    assert f"line {len(lines) + 1}: column 'day': '12/31/2024' is not among the dates" in ended.err
    done("run", data, "--target", "y", "--quiet", "--no-hindsight", "--on-error", "skip")


def test_a_filter_takes_dates_in_the_order_that_is_given(tmp_path: Path) -> None:
    rows = [{"day": f"0{k}/02/2024", "y": k} for k in range(1, 6)]
    data, model = written(tmp_path / "data.jsonl", rows), tmp_path / "model"
    given = ("--target", "y", "--predictions", "-", "--model", model, "--quiet")
    done("run", data, *given, "--dates", "dmy", "--learner", "nlms")
    assert "day.month=2" in nr.load(model).features
    done("run", data, *given, "--learner", "nlms")
    assert "day=01/02/2024" in nr.load(model).features


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("lost", [["x"], ["day"], ["town"], ["x", "day"]], ids=str)
def test_data_to_be_scored_may_lack_columns_as_raw_rows_may(
    tmp_path: Path, suffix: str, lost: list[str]
) -> None:
    rows = [row | {"town": "ab"[k % 2]} for k, row in enumerate(table("%d/%m/%Y"))]
    model, told = tmp_path / "model", tmp_path / "told.csv"
    data = written(tmp_path / f"data.{suffix}", rows)
    done("run", data, "--target", "y", "--model", model, "--quiet", "--no-hindsight")
    part = [{k: v for k, v in row.items() if k not in (*lost, "y")} | {"z": 1} for row in rows]
    ended = command("predict", model, written(tmp_path / f"part.{suffix}", part),
                    "--predictions", told)  # fmt: skip
    if suffix == "parquet":
        part = [{k: v for k, v in row.items() if k != "z"} for row in part]
        ended = command("predict", model, written(tmp_path / f"part.{suffix}", part),
                        "--predictions", told)  # fmt: skip
    assert ended.code == 0, ended.err
    assert f"no column {lost[0]!r}" in ended.err
    learner = nr.load(model)
    np.testing.assert_array_equal(
        [learner.predict_one(row) for row in part], pd.read_csv(told).prediction
    )
    assert command("predict", model, tmp_path / f"part.{suffix}", "--missing", "stop").code == 1
    other = written(tmp_path / f"other.{suffix}", [{"z": 1}])
    assert "no column" in command("predict", model, other).err
    assert command("predict", model, other).code == 1


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), True, np.bool_(False)])
def test_infinities_and_booleans_are_no_times(tmp_path: Path, value: Any) -> None:
    rows = [{"at": 1.7e9 + 3600 * k, "y": k} for k in range(20)]
    for suffix in ("csv", "jsonl"):
        data, model = written(tmp_path / f"data.{suffix}", rows), tmp_path / f"{suffix}.model"
        done("run", data, "--target", "y", "--time", "at", "--model", model, "--quiet")
        with pytest.raises(nr.BadExample, match="'at' is"):
            nr.load(model).predict_one({"at": value})
    data.write_text('{"at": 1, "y": 1}\n{"at": true, "y": 2}\n')
    assert "'at' is True" in command("run", data, "--target", "y", "--time", "at").err
    other = tmp_path / "inf.csv"
    other.write_text("at,y\n1,1\ninf,2\n3,3\n")
    assert "must be finite" in command("run", other, "--target", "y", "--time", "at").err


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%Y-%m-%d %H:%M"])
@pytest.mark.parametrize("at", [0, 30])
def test_a_value_among_dates_that_is_none_is_a_bad_row(
    tmp_path: Path, suffix: str, form: str, at: int
) -> None:
    rows = table(form)
    clean = written(tmp_path / f"clean.{suffix}", rows[:at] + rows[at + 1 :])
    rows[at]["day"] = "n.d."
    path = written(tmp_path / f"dirty.{suffix}", rows)
    said = refused("run", path, "--target", "y")
    assert f"line {at + 1 + (suffix == 'csv')}: " in said
    assert "'n.d.'" in said
    assert "--categories day" in said
    proof = tmp_path / "proof.json"
    how = "--target", "y", "--learner", "vaw", "--json"
    found = json.loads(done("run", path, *how, "--on-error", "skip", "--certificate", proof))
    wanted = json.loads(done("run", clean, *how))
    assert found["measures"] == wanted["measures"]
    done("verify", proof, path)
    done("run", path, *how, "--categories", "day")


def test_an_order_that_is_named_is_refused_with_a_value_that_is_no_date(tmp_path: Path) -> None:
    rows = table("%d.%m.%Y")
    for row in rows[1::4]:
        row["day"] = "unknown"
    path = written(tmp_path / "days.csv", rows)
    said = refused("run", path, "--target", "y", "--dates", "day=dmy")
    assert "does not hold dates in the order dmy: it has 'unknown'" in said


@pytest.mark.parametrize(("odd", "dates"), [(6, True), (7, False)])
def test_nine_in_ten_values_make_a_column_of_dates(odd: int, dates: bool) -> None:
    texts = [row["day"] for row in table("%d/%m/%Y")]
    mixed = ["soon"] * odd + texts[odd:]
    assert orders_in(mixed, 0.9) == (["dmy"] if dates else [])
    iso = ["soon"] * odd + [row["day"] for row in table("%Y-%m-%d")][odd:]
    assert iso_kind(iso, 0.9) == ("dates" if dates else None)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%d/%m/%Y", "%d.%m.%y %H:%M"])
@pytest.mark.parametrize("rows", [7, 16_384])
def test_dates_in_text_of_parquet_are_those_of_csv(
    form: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With gaps, and typos as bad rows that name their place."""
    monkeypatch.setattr(parquet_format, "ROWS_PER_BATCH", rows)
    days = [datetime(2023, 11, 27, 3, 5) + timedelta(hours=31 * k) for k in range(60)]
    texts: list[str | None] = [f"{day:{form}}" for day in days]
    texts[5] = texts[30] = None
    texts[11] = "31/31/2024"
    texts[40] = "soon"
    table = pa.table({"due": texts, "id": list(range(60)), "y": [float(k) for k in range(60)]})
    parquet.write_table(table, tmp_path / "d.parquet")
    lines = [f"{text or ''},{k},{float(k)}" for k, text in enumerate(texts)]
    (tmp_path / "d.csv").write_text("\n".join(["due,id,y", *lines]) + "\n")
    told: Any = {"target": "y", "missing": "indicator", "on_error": "skip", "passed": "id"}
    found = [[*streams.read(tmp_path / f"d.{kind}", **told)] for kind in ("csv", "parquet")]
    assert len(found[0]) == 58
    assert found[0] == found[1]
    blocks = [*streams.read(tmp_path / "d.parquet", **told).blocks()]
    passed = [tag for block in blocks for tag in block.tags or ()]
    assert passed == [f"[{k}]" for k in range(60) if k not in (11, 40)]
    faults = [fault.error for block in blocks for fault in block.faults]
    assert [error.row for error in faults] == [12, 41]
    assert "column 'due': '31/31/2024' is not among the" in faults[0].what
    with pytest.raises(BadExample, match=r"d.parquet, row 12: column 'due': '31/31/2024'"):
        [*streams.read(tmp_path / "d.parquet", "y", missing="indicator")]
    kept = ["--model", tmp_path / "m", "--certificate", tmp_path / "c.json", "--on-error", "skip"]
    done("run", tmp_path / "d.parquet", "--target", "y", *kept)
    assert "CONFIRMED" in done("verify", tmp_path / "c.json", tmp_path / "d.parquet")
    short = tmp_path / "short.parquet"
    parquet.write_table(table.slice(0, 4), short)
    assert done("predict", tmp_path / "m", short).count("\n") >= 4


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_dates_of_a_column_that_is_not_there_are_refused(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"d.{kind}"
    row = {"due": "03/04/2024", "y": 1}
    text = json.dumps(row) + "\n" if kind == "jsonl" else "due,y\n03/04/2024,1\n"
    file.write_text(text)
    said = refused("run", file, "--target", "y", "--dates", "nope=dmy")
    assert "there is no column 'nope'; the columns are 'due', 'y'" in said
    done("run", file, "--target", "y", "--dates", "due=dmy", "-q")
