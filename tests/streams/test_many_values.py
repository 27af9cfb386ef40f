"""Columns of ids: past a bound, values share features, whatever the blocks and the format."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noregret
from noregret import streams
from noregret.streams import Options, many_values, open_file, stream_of
from noregret.streams.parsing.vocabulary import hash_name
from tests.app.run.commands import done

pytestmark = pytest.mark.filterwarnings("ignore::noregret.errors.DataWarning")
Rows = list[dict[str, Any]]
MAX, BITS = 12, 2


@pytest.fixture(autouse=True)
def few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_values, "MAX_VALUES", MAX)
    monkeypatch.setattr(many_values, "SLOT_BITS", BITS)


def random_rows(seed: int, count: int = 120) -> Rows:
    rng = random.Random(seed)
    ids = [f"u{k}" for k in range(60)] + ["#1", "#3", "missing"]
    return [
        {
            "id": rng.choice(ids) if rng.random() < 0.95 else "",
            "town": rng.choice(["Oslo", "Bergen", "Tromsø"]),
            "y": "" if rng.random() < 0.1 else rng.randrange(9),
        }
        for _ in range(count)
    ]


def slot_of(name: str) -> str:
    return f"#{hash_name(name) % 2**BITS}"


def expected(rows: Rows) -> list[set[str]]:
    """Name the features of each row by hand: one row after the other, values in sets."""
    known: set[str] = set()
    own: set[str] = set()
    found = []
    for row in rows:
        value, names = row["id"], {f"town={row['town']}"}
        if value == "":
            names.add("id=missing")
        elif value in own or len(own) < MAX or value in ("missing", "#1", "#3"):
            names.add(f"id={value}")
        else:
            names.add(f"id={slot_of(f'id={value}')}")
        if row["y"] != "":
            known |= names
            if len(own) < MAX and value not in ("", "missing"):
                own.add(value)
            found.append(names)
        else:
            found.append(names & known)
    return found


def write(rows: Rows, path: Path) -> None:
    if path.suffix == ".csv":
        lines = [f"{r['id']},{r['town']},{r['y']}" for r in rows]
        path.write_text("id,town,y\n" + "\n".join(lines) + "\n")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        plain = [row | {"y": None if row["y"] == "" else row["y"]} for row in rows]
        pq.write_table(pa.Table.from_pylist(plain), path, row_group_size=17)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("piece", [200, 1 << 22])
def test_later_values_share_features(
    tmp_path: Path, suffix: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_file, "BLOCK", piece)
    for seed in range(3):
        rows = random_rows(seed)
        path = tmp_path / f"{seed}{suffix}"
        write(rows, path)
        stream = stream_of(str(path), Options("y", missing="indicator"))
        made = [set(x) for x, _ in stream]
        assert made == expected(rows)


def test_certificates_name_the_column_and_old_ones_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(random_rows(1), path)
    told = noregret.read(str(path), target="y", missing="indicator").reading()
    for _ in told:
        pass
    assert "many-values=id" in told.transforms
    assert sum(name.startswith("id=") for name in told.names(0, told.features)) <= MAX + 4 + 3
    for transforms, some in ((told.transforms, True), (("missing=indicator",), False)):
        again = stream_of(str(path), Options.of(transforms, "y", sniff=False)).reading()
        for _ in again:
            pass
        assert (again.names(0, again.features) == told.names(0, told.features)) is some


def test_dicts_of_a_saved_model_share_the_same_features(tmp_path: Path) -> None:
    rows = [row for row in random_rows(2) if row["y"] != ""]
    path, model = tmp_path / "a.csv", tmp_path / "a.model"
    write(rows, path)
    done("run", path, "--target", "y", "--task", "numbers", "--model", model)
    loaded = noregret.load(model)
    raw = [{name: row[name] for name in ("id", "town")} for row in rows]
    fresh = raw[0] | {"id": "new"}
    slot = raw[0] | {"id": slot_of("id=new")}
    assert loaded.predict_one(fresh) == loaded.predict_one(slot)
    assert loaded.predict_one(raw[0] | {"id": "u1"}) != loaded.predict_one(fresh)
    many = loaded.predict_many(pa.Table.from_pylist([*raw, fresh]))
    assert many.to_pylist() == [loaded.predict_one(x) for x in [*raw, fresh]]


def test_a_large_first_block_of_ids_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note on shared features, not one that shows a slot and counts too few."""
    monkeypatch.setattr(many_values, "MAX_VALUES", 2_000)
    file = tmp_path / "d.csv"
    file.write_text("id,y\n" + "".join(f"n{k},1\n" for k in range(5_000)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        [*streams.read(file, "y").blocks()]
    said = [str(each.message) for each in told]
    assert len(said) == 1
    assert "more than 2,000 different values" in said[0]
