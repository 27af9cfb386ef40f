"""Games over tables: the same figures and the same digest, however the rows come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import noregret as nr
from noregret.errors import BadExample, NoRegretError
from noregret.proof.game.table_game import TableGame
from noregret.proof.record.table import Table
from tests.proof.game.steady import Steady

RNG = np.random.default_rng(5)
X = RNG.uniform(size=(300, 3))
y = RNG.uniform(size=300)
NAMES = ["ann", "bob", "cyd"]
SLEEPY = np.where(RNG.uniform(size=X.shape) < 0.2, np.nan, X)
SLEEPY[np.isnan(SLEEPY).all(axis=1)] = 0.5


def dicts(table: np.ndarray[Any, Any]) -> list[dict[str, float]]:
    return [
        {name: value for name, value in zip(NAMES, row, strict=True) if not np.isnan(value)}
        for row in table.tolist()
    ]


def frame(table: np.ndarray[Any, Any]) -> pd.DataFrame:
    return pd.DataFrame(table, columns=NAMES)


def check(game: TableGame, table: np.ndarray[Any, Any] = X, outcomes: Any = y) -> None:
    means = np.nanmean(table, axis=1)
    paid = (means - (0.0 if outcomes is None else outcomes)) ** 2
    assert game.rounds == len(table) == game.table.rows
    assert game.loss == pytest.approx(paid.sum(), rel=1e-12)
    kept, ends = game.table.whole()
    assert np.array_equal(kept, table, equal_nan=True)
    assert (ends is None) == (outcomes is None)
    assert ends is None or np.array_equal(ends, outcomes)
    if game._predictions is not None:
        assert np.allclose(game.predictions, means, rtol=1e-12)


def test_arrays_lists_pairs_and_iterators_give_the_same_game() -> None:
    pairs = list(zip(X, y, strict=True))
    forms: list[tuple[Any, ...]] = [
        (X, y),
        (np.asfortranarray(X), y.tolist()),
        (X.tolist(), y),
        ((X, y),),
        (pairs,),
        (iter(pairs),),
        ([(row.tolist(), float(end)) for row, end in pairs],),
        (((X[k : k + 100], y[k : k + 100]) for k in (0, 100, 200)),),
    ]
    digests = set()
    for form in forms:
        game = nr.play(Steady(), *form, predictions=True)
        check(game)
        digests.add(game.digest)
    assert len(digests) == 1


def test_frames_dicts_and_files_give_the_same_game(tmp_path: Path) -> None:
    whole = frame(X).assign(sold=y)
    whole.to_csv(tmp_path / "advice.csv", index=False, float_format="%.17g")
    whole.to_parquet(tmp_path / "advice.parquet")
    with_ends = [row | {"sold": end} for row, end in zip(dicts(X), y, strict=True)]
    forms: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((frame(X), y), {}),
        ((frame(X)[NAMES[::-1]], y), {}),
        ((whole,), {"target": "sold"}),
        ((pl.DataFrame(whole), "sold"), {}),
        ((dicts(X), y), {}),
        ((list(zip(dicts(X), y, strict=True)),), {}),
        ((iter(list(zip(dicts(X), y, strict=True))),), {}),
        ((with_ends,), {"target": "sold"}),
        ((tmp_path / "advice.csv",), {"target": "sold"}),
        ((nr.streams.read(tmp_path / "advice.parquet", "sold"),), {}),
    ]
    digests = set()
    for form, options in forms:
        game = nr.play(Steady(), *form, predictions=True, **options)
        check(game)
        assert game.names == game.feature_names == NAMES
        digests.add(game.digest)
    assert len(digests) == 1
    assert digests.pop() != nr.play(Steady(), X, y).digest  # those columns have no names


def test_tables_without_outcomes(tmp_path: Path) -> None:
    frame(X).to_csv(tmp_path / "losses.csv", index=False, float_format="%.17g")
    for source in (X, iter(X), X.tolist(), [X], frame(X), dicts(X), tmp_path / "losses.csv"):
        check(nr.play(Steady(), source), outcomes=None)


def test_what_is_missing_is_passed_on() -> None:
    gaps = [[None if np.isnan(v) else v for v in row] for row in SLEEPY.tolist()]
    masked = np.ma.masked_invalid(SLEEPY)
    nulls = pl.DataFrame(dict(zip(NAMES, np.array(gaps, dtype=object).T.tolist(), strict=True)))
    unnamed = {nr.play(Steady(), source, y).digest for source in (SLEEPY, gaps, masked)}
    named = {
        nr.play(Steady(), source, y).digest for source in (frame(SLEEPY), nulls, dicts(SLEEPY))
    }
    assert len(unnamed) == len(named) == 1
    check(nr.play(Steady(), gaps, y), SLEEPY)


def test_a_nan_is_a_nan_whatever_its_bits() -> None:
    odd = SLEEPY.copy()
    odd[np.isnan(odd)] = -np.nan
    assert nr.play(Steady(), odd, y).digest == nr.play(Steady(), SLEEPY, y).digest


def test_an_iterator_is_asked_when_those_before_have_been_played() -> None:
    player = Steady()

    def rows() -> Iterator[Any]:
        for t in range(50):
            assert player.rounds == t
            yield X[t], y[t]

    assert nr.play(player, rows()).rounds == 50


def test_a_bad_row_ends_the_game_where_it_is() -> None:
    bad = X.copy()
    bad[120, 1] = np.inf
    for source in (bad, bad.tolist(), iter(list(zip(bad, y, strict=True)))):
        player = Steady()
        game = player._new_game(predictions=True)
        with pytest.raises(BadExample, match="round 121") as refused:
            game.play(source, None if hasattr(source, "__next__") else y)
        assert refused.value.round == 121
        check(game, X[:120], y[:120])
    ends: list[Any] = y.tolist()
    ends[7] = "rain"
    game = Steady()._new_game()
    with pytest.raises(BadExample, match="round 8: the outcome is 'rain'"):
        game.play(X, ends)
    check(game, X[:7], y[:7])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ([[1.0, 2.0], [1.0]], "1 numbers, but there were 2"),
        ([[1.0, 2.0], [1.0, "x"]], "column 1 is 'x'"),
        ([{"a": 1.0}, [1.0]], "a dict is expected"),
        (iter([{"a": 1.0}, {"a": 1.0, "b": 2.0}]), "column 'b' was not there before"),
        ([{"a": 1.0}, {"a": "x"}], "column 'a' is 'x'"),
        (pd.DataFrame({"a": [1.0], "day": ["monday"]}), "column 'day' holds String"),
        (np.ones((2, 2, 2)), "2-d"),
        (3.5, "play a table"),
        (np.array([["a", "b"]]), "rows are a 2-d array"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(source: Any, words: str) -> None:
    with pytest.raises(BadExample, match=words):
        nr.play(Steady(), source)


def test_a_game_goes_on_with_the_same_columns() -> None:
    game = nr.play(Steady(), frame(X[:100]), y[:100])
    game.play(frame(X[100:200])[NAMES[::-1]], y[100:200]).play(dicts(X[200:]), y[200:])
    check(game)
    assert game.digest == nr.play(Steady(), frame(X), y).digest
    with pytest.raises(BadExample, match="other columns"):
        game.play(frame(X).rename(columns={"ann": "dan"}), y)
    with pytest.raises(BadExample, match="these with none"):
        game.play(frame(X))
    with pytest.raises(BadExample, match="2 columns, but there were 3"):
        game.play(X[:, :2], y)
    with pytest.raises(BadExample, match="300 rows, but 2 outcomes"):
        game.play(X, y[:2])
    check(game)
    game.player.play_block(X, y, None)
    with pytest.raises(NoRegretError, match="outside this game"):
        game.play(X, y)


def test_rows_beyond_the_memory_go_to_a_file_and_come_back() -> None:
    many = RNG.uniform(size=(60_000, 30))
    ends = RNG.uniform(size=60_000)
    held, spilled = (nr.play(Steady(), many, ends, memory=size) for size in (1 << 30, 1 << 20))
    assert spilled.table.spilled
    assert not held.table.spilled
    assert held.digest == spilled.digest
    for one, other in zip(held.table.blocks(), spilled.table.blocks(), strict=True):
        assert np.array_equal(one[0], other[0])
        assert one[1] is not None
        assert other[1] is not None
        assert np.array_equal(one[1], other[1])
    whole = spilled.table.whole()[0]
    assert np.array_equal(whole, many)


@pytest.mark.parametrize("step", [1, 7, 5_000, 20_000])
def test_a_table_is_the_same_whatever_the_blocks(step: int) -> None:
    many = RNG.uniform(size=(20_000, 40))
    tables = Table(1 << 30), Table(1 << 30)
    tables[0].add(many)
    for k in range(0, len(many), step):
        tables[1].add(many[k : k + step])
    assert tables[0].digest_text(None) == tables[1].digest_text(None)
    assert np.array_equal(tables[1].whole()[0], many)
    many[3, 3] += 1e-9
    assert np.array_equal(tables[0].whole()[0], tables[1].whole()[0])


def test_the_curve_has_points_ever_further_apart() -> None:
    many = RNG.uniform(size=(100_000, 4))
    player = Steady()
    game = nr.play(player, many)
    curve = game.curve
    assert 250 < len(curve.rounds) < 600
    assert (np.diff(np.diff(curve.rounds[:-1])) >= -1).all()
    assert curve.rounds[-1] == game.rounds
    assert curve.loss[-1] == game.loss
    assert curve.regret[-1] == pytest.approx(player.regret_so_far())
    assert curve.bound[-1] == 400_000
    assert player.calls < 2 * len(curve.rounds)
    later = player._new_game().play(many[:100]).curve
    assert np.isnan(later.regret).all()


def test_wrong_options_and_players_are_refused() -> None:
    with pytest.raises(ValueError, match="keep"):
        Steady()._new_game(keep="sums")
    with pytest.raises(NoRegretError, match="predictions"):
        _ = nr.play(Steady(), X).predictions
    with pytest.raises(TypeError, match="play a learner"):
        nr.play("steady", X)  # type: ignore[arg-type]


def test_missing_cells_and_bad_rows_of_files_say_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n0.1,0.2\n0.3,inf\n0.5,0.6\n", encoding="utf-8")
    with pytest.raises(BadExample, match=r"rows\.csv, line 3: column .* inf"):
        nr.play(Steady(), file)
    game = nr.play(Steady(), nr.streams.read(file, on_error="skip"))
    assert game.rounds == 2
    assert "line 3" in game.skipped[0].place
