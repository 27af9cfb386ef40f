"""svmlight and Vowpal Wabbit's text: the games of dicts that a slow reader makes of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import noregret
from noregret import NoRegretError, play, streams
from noregret.streams import open_file as opened
from noregret.streams.parsing.vocabulary import hash_name
from tests.thorough import draws

from .files import assert_same, blocks_of, game_of, learner, write_gzip, write_zstd

values = st.floats(-10, 10).map(lambda x: round(x, 3)) | st.integers(-9, 9)
svm_lines = st.lists(
    st.tuples(values, st.dictionaries(st.integers(0, 12), values, max_size=5)),
    min_size=1,
    max_size=9,
)
vw_names = st.text(st.sampled_from("abcé=^/-_.1"), min_size=1, max_size=3)
spaces = st.one_of(st.just(""), vw_names)
vw_lines = st.lists(
    st.tuples(
        values,
        st.lists(
            st.tuples(spaces, st.dictionaries(vw_names, st.none() | values, max_size=4)),
            min_size=1,
            max_size=3,
        ),
    ),
    min_size=1,
    max_size=8,
)


def svm_text(rows: list[tuple[float, dict[int, float]]], newline: str = "\n") -> str:
    return newline.join(
        " ".join([repr(y), *(f"{i}:{v!r}" for i, v in sorted(x.items()))]) for y, x in rows
    )


def svm_dicts(text: str) -> list[tuple[dict[str, float], float]]:
    """Read svmlight text slowly."""
    pairs = []
    for line in text.splitlines():
        label, *entries = line.split("#")[0].split()
        x = dict(entry.split(":") for entry in entries)
        pairs.append(({k: float(v) for k, v in x.items()}, float(label)))
    return pairs


def vw_text(rows: Any) -> str:
    def words(x: dict[str, float | None]) -> list[str]:
        return [name if v is None else f"{name}:{v!r}" for name, v in x.items()]

    return "\n".join(
        repr(y) + " " + " ".join(" ".join([f"|{space}", *words(x)]) for space, x in spaces)
        for y, spaces in rows
    )


def vw_dicts(text: str) -> list[tuple[dict[str, float], float]]:
    """Read VW text slowly: features of one name are added up, and zeros are no features."""
    pairs = []
    for line in text.splitlines():
        label, *parts = line.split("|")
        x: dict[str, float] = {}
        for part in parts:
            space, *words = [""] * part.startswith((" ", "\n")) + part.split() or [""]
            for word in words:
                name, _, value = word.partition(":")
                key = f"{space}^{name}" if space else name
                x[key] = x.get(key, 0.0) + (float(value) if value else 1.0)
        pairs.append((x, float(label)))
    return pairs


@draws(40)
@given(svm_lines, st.integers(1, 80), st.sampled_from(["\n", "\r\n"]))
def test_svmlight_is_the_game_of_its_matrix(rows: Any, size: int, newline: str) -> None:
    pairs = svm_dicts(svm_text(rows))
    width = 1 + max([int(i) for x, _ in pairs for i in x], default=-1)
    X = np.zeros((len(pairs), max(width, 1)))
    for r, (x, _) in enumerate(pairs):
        for i, v in x.items():
            X[r, int(i)] = v
    y = [y for _, y in pairs]
    with TemporaryDirectory() as folder, blocks_of(size):
        file = Path(folder) / "d.svm"
        file.write_bytes(svm_text(rows, newline).encode())
        game = game_of(file)
        expected = play(learner(), sparse.csr_array(X), y, predictions=True)
        assert game.loss == expected.loss
        assert game.predictions.tolist() == expected.predictions.tolist()
        assert game.learner.weights.tolist() == expected.learner.weights[:width].tolist()
        if width:
            assert game.digest == expected.digest
        for packed in (
            write_gzip(file.read_bytes(), Path(folder) / "d.svm.gz"),
            write_zstd(file.read_bytes(), Path(folder) / "d.svm.zst"),
        ):
            assert game_of(packed).digest == game.digest


@draws(60)
@given(vw_lines, st.integers(1, 80))
def test_vw_is_the_game_of_dicts(rows: Any, size: int) -> None:
    text = vw_text(rows)
    expected = game_of([(x, y) for x, y in vw_dicts(text)])
    with TemporaryDirectory() as folder, blocks_of(size):
        (Path(folder) / "d.vw").write_text(text, "utf-8")
        game = game_of(Path(folder) / "d.vw")
    weights = dict(zip(game.learner.features, game.learner.weights.tolist(), strict=True))
    slow = dict(zip(expected.learner.features, expected.learner.weights.tolist(), strict=True))
    # New names join in the order of the line, and those of a dict in that of the alphabet.
    for name, weight in slow.items():
        assert weights.get(name, 0.0) == pytest.approx(weight, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(game.predictions, expected.predictions, rtol=1e-9, atol=1e-9)


def test_vw_without_zeros_has_the_digest_of_its_dicts(tmp_path: Path) -> None:
    text = "1 |a x:2 y |b x:0.5\n-1 |b z\n0.5 | plain |a y:3\n"
    (tmp_path / "d.vw").write_text(text, "utf-8")
    assert_same(game_of(tmp_path / "d.vw"), game_of(vw_dicts(text)))


def test_the_intercept_is_a_feature_as_in_dicts(tmp_path: Path) -> None:
    text = "1 |a x:2 y\n-1 |b z\n"
    (tmp_path / "d.vw").write_text(text, "utf-8")
    pairs = [({"intercept": 1.0} | x, y) for x, y in vw_dicts(text)]
    game, expected = game_of(tmp_path / "d.vw", intercept=True), game_of(pairs)
    assert game.loss == pytest.approx(expected.loss)
    found = dict(zip(game.learner.features, game.learner.weights, strict=True))
    slow = dict(zip(expected.learner.features, expected.learner.weights, strict=True))
    assert found == pytest.approx(slow)


# Importances.


def implicit(name: str, **params: Any) -> noregret.Learner:
    learner: noregret.Learner = noregret.make(name, step="implicit", **params)
    return learner


def played(made: noregret.Learner, text: str, folder: Path) -> noregret.Game:
    (folder / "d.vw").write_text(text, "utf-8")
    return play(made, streams.read(folder / "d.vw"))


@given(
    st.floats(0.01, 2),
    st.floats(0.01, 50),
    st.lists(st.floats(0.01, 3) | st.floats(-3, -0.01), min_size=1, max_size=3),
    st.floats(-3, 3),
)
@draws(30)
def test_an_importance_is_a_rate_so_many_times(
    rate: float, importance: float, x: list[float], y: float
) -> None:
    """The exact step of weight k solves w = ηk(y − w·x)x: so w = x ηky / (1 + ηk‖x‖²)."""
    words = " ".join(f"f{k}:{v!r}" for k, v in enumerate(x))
    with TemporaryDirectory() as folder:
        game = played(
            implicit("widrow-hoff", rate=rate), f"{y!r} {importance!r} | {words}", Path(folder)
        )
        heavier = played(
            implicit("widrow-hoff", rate=rate * importance), f"{y!r} | {words}", Path(folder)
        )
    steps = rate * importance
    expected = np.array(x) * steps * y / (1 + steps * np.dot(x, x))
    np.testing.assert_allclose(game.learner.weights, expected, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(heavier.learner.weights, expected, rtol=1e-9, atol=1e-300)


def test_a_weighted_row_takes_the_exact_step_whatever_that_of_others(tmp_path: Path) -> None:
    text = "2 3 | a:0.5 b:2\n"
    explicit = played(noregret.make("widrow-hoff", rate=0.2), text, tmp_path)
    exact = played(implicit("widrow-hoff", rate=0.2), text, tmp_path)
    assert explicit.learner.weights.tolist() == exact.learner.weights.tolist()


def test_importance_one_is_none_and_nought_leaves_the_weights(tmp_path: Path) -> None:
    lines = ["1 | a b:2", "-1 | c", "2 | a:0.5 c"]
    plain = played(implicit("widrow-hoff"), "\n".join(lines), tmp_path)
    ones = [line.replace(" |", " 1.0 |") for line in lines]
    weighted = played(implicit("widrow-hoff"), "\n".join(ones), tmp_path)
    assert weighted.digest == plain.digest
    assert weighted.learner.weights.tolist() == plain.learner.weights.tolist()
    assert weighted.certificate().data == plain.certificate().data
    nought = played(implicit("widrow-hoff"), "\n".join([*lines, "5 0 | a"]), tmp_path)
    assert nought.learner.weights.tolist() == plain.learner.weights.tolist()


def test_learners_without_an_exact_step_refuse_the_row_that_has_one(tmp_path: Path) -> None:
    text = "1 | a\n-1 | b\n1 2 | c\n1 | d\n"
    for made in map(noregret.make, ("winnow", "exponentiated-gradient", "ftrl")):
        with pytest.raises(
            noregret.BadExample, match=r"d\.vw, line 3: the importance is 2"
        ) as caught:
            played(made, text, tmp_path)
        assert caught.value.round == 3
        assert made.rounds == 2
    (tmp_path / "d.vw").write_text(text, "utf-8")
    game = play(noregret.make("winnow"), streams.read(tmp_path / "d.vw", on_error="skip"))
    assert game.rounds == 3
    assert [row.place for row in game.skipped] == [f"{tmp_path / 'd.vw'}, line 3"]


def test_weighted_games_have_no_certificate(tmp_path: Path) -> None:
    game = played(implicit("widrow-hoff"), "1 | a\n1 2 | a\n", tmp_path)
    with pytest.raises(NoRegretError, match="round 2 has an importance other than 1"):
        game.certificate()


# Hashing.


@draws(30)
@given(vw_lines, st.integers(1, 5), st.integers(1, 80))
def test_hashed_names_share_slots(rows: Any, bits: int, size: int) -> None:
    text = vw_text(rows)
    pairs: list[tuple[dict[str, float], float]] = []
    owners: dict[int, set[str]] = {}
    for x, y in vw_dicts(text):
        slots: dict[str, float] = {}
        for name, value in x.items():
            slot = hash_name(name) % 2**bits
            slots[f"#{slot}"] = slots.get(f"#{slot}", 0.0) + value
            owners.setdefault(slot, set()).add(name)
        pairs.append((slots, y))
    expected = game_of(list(pairs))
    with TemporaryDirectory() as folder, blocks_of(size):
        (Path(folder) / "d.vw").write_text(text, "utf-8")
        game = game_of(Path(folder) / "d.vw", hash=bits)
    np.testing.assert_allclose(game.predictions, expected.predictions, rtol=1e-9, atol=1e-9)
    assert set(game.learner.features) <= set(expected.learner.features)
    assert game.reading is not None
    assert game.reading.vocabulary.shared <= sum(len(names) > 1 for names in owners.values())


def test_svmlight_is_hashed_by_number(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_text("1 3:1 900000000000:2\n-1 3:0.5\n", "utf-8")
    game = game_of(tmp_path / "d.svm", hash=20)
    slots = [f"#{hash_name(name) % 2**20}" for name in ("3", "900000000000")]
    assert sorted(game.learner.features) == sorted(slots)
    assert game.rounds == 2


def test_vw_is_cut_into_smaller_pieces_after_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", 400)
    path = tmp_path / "rows.vw"
    path.write_text("".join(f"{k % 7} |a w{k % 50}:{k}.5 x\n" for k in range(300)))
    reading = streams.read_vw(path).reading()
    pieces = list(reading.source().pieces())
    assert b"".join(piece.text() for piece in pieces) == path.read_bytes()
    assert 300 < len(pieces[0].text()) <= 400
    assert max(len(piece.text()) for piece in pieces[1:]) <= 100
    assert [y for block in reading for y in block.y] == [k % 7 for k in range(300)]
