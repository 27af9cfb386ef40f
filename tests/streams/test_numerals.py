"""Numbers as people write them are those that they mean."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret import DataWarning, streams
from noregret.streams.csv_numerals import plain
from tests.app.run.commands import command, done
from tests.thorough import draws

from .files import assert_same, blocks_of, game_of, refused


def saved(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, "utf-8")
    return folder / name


@draws(50)
@given(
    st.decimals(-(10**9), 10**9, places=3),
    st.sampled_from([".", ","]),
    st.sampled_from(["{}", "{}%", "${}", "{} €", " £ {}", "{} EUR", "CHF {}", "{}kr"]),
)
def test_a_number_in_any_dress_is_itself(value: Decimal, decimal: str, dress: str) -> None:
    grouped = f"{value:,}" if decimal == "." else f"{value:,}".translate({44: 46, 46: 44})
    ungrouped = str(value).replace(".", decimal)
    expected = float(value.scaleb(-2) if "%" in dress else value)
    for text in (grouped, ungrouped):
        found = plain(dress.format(text), decimal)
        assert found is not None
        assert float(found) == expected


@pytest.mark.parametrize(
    "text", ["", "-", "$", "%", "1,23", "1,2345", "12,", ",5", "1 2", "$%", "a5"]
)
def test_what_is_not_a_number_is_none(text: str) -> None:
    assert plain(text, ".") is None
    assert plain(text.replace(",", "."), ",") is None


@pytest.mark.parametrize("size", [60, 1 << 22])
@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_decimal_commas_are_decimal_points(mark: str, size: int, tmp_path: Path) -> None:
    rows = [(k / 8, k, -k * 1234.5, "x,y" if k % 2 else "z", k % 5 + 0.5) for k in range(60)]
    head = ["small", "whole", "large", "town", "y"]
    plain_text = "\n".join(mark.join(map(str, row)) for row in [head, *rows]) + "\n"
    lines = [head]
    for small, whole, large, town, y in rows:
        swapped = f"{large:,}".translate({44: 46, 46: 44})
        lines.append(
            [str(small).replace(".", ","), str(whole), swapped, town, f"{y}".replace(".", ",")]
        )
    other = "\n".join(map(mark.join, lines)) + "\n"
    with blocks_of(size):
        expected = game_of(saved(tmp_path, "plain.csv", plain_text), target="y")
        assert_same(game_of(saved(tmp_path, "other.csv", other), target="y"), expected)


def test_points_are_between_thousands_where_other_columns_have_decimal_commas(
    tmp_path: Path,
) -> None:
    rows = [("1.234", "0.125", "2,5"), ("950", "0.250", "1,5"), ("2.000", "3", "0,5")]
    text = "a;b;y\n" + "".join(";".join(row) + "\n" for row in rows)
    with pytest.warns(DataWarning, match="'a': '1.234' is read as 1234"):
        found = list(streams.read(saved(tmp_path, "d.csv", text), "y"))
    assert found == [
        ({"a": 1234.0, "b": 0.125}, 2.5),
        ({"a": 950.0, "b": 0.25}, 1.5),
        ({"a": 2000.0, "b": 3.0}, 0.5),
    ]
    text = text.replace(",", ".")  # no decimal comma: no thousands
    assert next(x["a"] for x, _ in streams.read(saved(tmp_path, "d.csv", text), "y")) == 1.234


def test_percentages_prices_and_thousands_are_numbers(tmp_path: Path) -> None:
    text = 'share,price,crowd,y\n12%,$5,"1,234",1\n7.5%,"$1,000.25",56,0\n,-$3,"1,234,567",1\n'
    stream = streams.read(saved(tmp_path, "d.csv", text), "y", missing="zero")
    assert [dict(sorted(x.items())) for x, _ in stream] == [
        {"crowd": 1234.0, "price": 5.0, "share": 0.12},
        {"crowd": 56.0, "price": 1000.25, "share": 0.075},
        {"crowd": 1234567.0, "price": -3.0, "share": 0.0},
    ]


def test_a_cell_that_is_no_number_is_told_by_line(tmp_path: Path) -> None:
    text = "a;y\n" + "1,5;1\n" * 30 + "1.5;1\n"
    said = refused(saved(tmp_path, "d.csv", text), target="y")
    assert "line 32: column 'a': '1.5' is not a number" in said
    game = game_of(tmp_path / "d.csv", target="y", on_error="skip")
    assert (game.rounds, len(game.skipped)) == (30, 1)


def test_in_a_column_of_plain_numbers_a_comma_is_not_guessed_at(tmp_path: Path) -> None:
    text = "a;y\n" + "5;1\n" * 30 + "1,234;1\n"
    with blocks_of(40):
        said = refused(saved(tmp_path, "d.csv", text), target="y")
    assert "line 32: column 'a': '1,234' is not a number" in said


def test_versions_codes_and_ranges_stay_names(tmp_path: Path) -> None:
    text = "a;b;c;y\n" + "1.2.3;5-7;$;1\n1.2.4;6-9;%;2\n" * 5
    features = game_of(saved(tmp_path, "d.csv", text), target="y").learner.features
    assert {"a=1.2.3", "b=5-7", "c=$"} <= set(features)


def test_categories_may_look_like_prices(tmp_path: Path) -> None:
    text = "a,y\n$5,1\n$6,2\n"
    game = game_of(saved(tmp_path, "d.csv", text), target="y", categories="a")
    assert game.learner.features == ["a=$5", "a=$6"]


def test_the_command_verifies_and_predicts_from_decimal_commas(tmp_path: Path) -> None:
    rows = "".join(f"{k % 7},5;{k % 3},25\n" for k in range(60))
    data = saved(tmp_path, "d.csv", "a;y\n" + rows)
    pointed = saved(tmp_path, "p.csv", "a,y\n" + rows.replace(",", ".").replace(";", ","))
    cert, model = tmp_path / "c.json", tmp_path / "m.model"
    done("run", data, "--target", "y", "--certificate", cert, "--model", model)
    assert "CONFIRMED" in done("verify", cert, data)
    assert done("predict", model, data) == done("predict", model, pointed)
    assert "the file seems to be separated by ','" in command("verify", cert, pointed).err
