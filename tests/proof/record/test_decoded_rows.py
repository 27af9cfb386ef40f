"""Sparse rows are decoded as they come: the same rows, digest and answer as from pages."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import noregret as nr
from noregret.linear.engine.recorder import packed, unpacked
from noregret.proof.record import decoded_rows, ledger, pages
from noregret.proof.record.decoded_rows import DecodedRows


def drawn(rows: int, features: int, density: float, seed: int = 1) -> sparse.csr_array:
    return sparse.random_array(
        (rows, features), density=density, format="csr", rng=np.random.default_rng(seed)
    )


def outcomes(rows: int) -> np.ndarray:
    return np.where(np.random.default_rng(2).random(rows) < 0.4, 1.0, -1.0)


def played(monkeypatch: pytest.MonkeyPatch, begin: int, blocks: list[sparse.csr_array]) -> nr.Game:
    monkeypatch.setattr(ledger, "SMALL_PAGE", 2_000)
    monkeypatch.setattr(pages, "DECODED_FROM", begin)
    learner = nr.make("logistic", radius=2.0)
    game: nr.Game = nr.play(learner, iter([(X, outcomes(X.shape[0])) for X in blocks]))
    return game


def stored(game: nr.Game) -> tuple[np.ndarray, ...]:
    rows = game.ledger.rows()
    assert rows is not None
    parts = [(X.toarray() if sparse.issparse(X) else X, y) for X, y in rows.blocks()]
    width = game.width
    X = np.concatenate([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X, _ in parts])
    return X, np.concatenate([y for _, y in parts])


def test_rows_survive_packing() -> None:
    X = drawn(50, 30, 0.2)
    X = sparse.csr_array(sparse.vstack([X, sparse.csr_array((3, 30)), X[:, ::-1]]))
    X.sort_indices()
    y = np.arange(X.shape[0], dtype=np.float64)
    starts, at = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    found = unpacked(packed(starts, at, X.data, y), len(y))
    for one, other in zip(found, (starts, at, X.data, y), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="not rows"):
        packed(starts[::-1].copy(), at, X.data, y)
    with pytest.raises(ValueError, match="not rows"):
        packed(starts, at[:-1], X.data, y)


def test_decoding_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [drawn(400, 300, 0.03, seed) for seed in range(4)]
    late, early = (played(monkeypatch, begin, blocks) for begin in (1 << 40, 1_000))
    assert late.ledger.pages is not None
    assert early.ledger.pages is not None
    assert late.ledger.pages.decoded is None
    assert early.ledger.pages.decoded is not None
    for one, other in zip(stored(late), stored(early), strict=True):
        np.testing.assert_array_equal(one, other)
    assert late.certificate() == early.certificate()
    again = pickle.loads(pickle.dumps(early))
    assert again.certificate() == early.certificate()


def test_rows_that_become_dense_or_too_many_are_pages_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    thin, full = drawn(400, 300, 0.03), drawn(400, 300, 0.9)
    usual = played(monkeypatch, 1 << 40, [thin, full])
    mixed = played(monkeypatch, 1_000, [thin, full])
    assert mixed.ledger.pages is not None
    assert mixed.ledger.pages.decoded is None
    monkeypatch.setattr(decoded_rows, "DecodedRows", lambda: DecodedRows(5_000))
    many = played(monkeypatch, 1_000, [thin, thin])
    assert many.ledger.pages is not None
    assert many.ledger.pages.decoded is None
    other = played(monkeypatch, 1 << 40, [thin, thin])
    for game, same in ((mixed, usual), (many, other)):
        for one, two in zip(stored(game), stored(same), strict=True):
            np.testing.assert_array_equal(one, two)
        assert game.certificate().data == same.certificate().data


def test_without_memory_for_decoded_rows_there_are_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> DecodedRows:
        raise MemoryError

    monkeypatch.setattr(decoded_rows, "DecodedRows", refuse)
    game = played(monkeypatch, 1_000, [drawn(400, 300, 0.03)])
    assert game.ledger.pages is not None
    assert game.ledger.pages.decoded is None
    assert game.certificate().data.rounds == 400
