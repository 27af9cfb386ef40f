"""A witness about columns names those that occur, however many there are in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import noregret as nr
from noregret.base.positions import Positions
from noregret.proof.certificates.certificate import seal

LEARNERS: dict[str, Any] = {
    "vaw": nr.Vaw,
    "ball": lambda: nr.GradientDescent(radius=0.5),
    "coin-betting": lambda: nr.make("coin-betting"),
    "simplex": nr.ExponentiatedGradient,
}
DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(20, 6)) * [1, 0, 1, 0, 0, 1]
# With noise: of outcomes that fit exactly, sums alone cannot certify the loss.
Y = X @ [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] + DRAW.normal(size=20)


def restated(certificate: Any, witness: dict[str, float]) -> dict[str, Any]:
    contents: dict[str, Any] = certificate.to_dict()
    contents["hindsight"]["witness"] = witness
    contents.pop("seal", None)
    return contents | {"seal": seal(contents)}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("keep", ["rows", "sums"])
def test_columns_of_zeros_are_named_only_where_they_have_weight(name: str, keep: Any) -> None:
    if keep == "sums" and name == "coin-betting":
        return
    certificate = nr.play(LEARNERS[name](), X, Y, keep=keep).certificate()
    witness = dict(certificate.hindsight.witness)
    if name == "simplex":
        assert list(witness) == ["0", "1", "2", "3", "4", "5"]
    else:
        assert list(witness) == ["0", "2", "5"]
    assert nr.verify(certificate, X, Y).failed == ()
    every = {str(i): witness.get(str(i), 0.0) for i in range(6)}  # as earlier versions had it
    assert nr.verify(restated(certificate, every), X, Y).failed == ()
    for other in ({**witness, "6": 0.0}, {**witness, "02": 0.0}, {**witness, "x": 0.0}):
        assert not nr.verify(restated(certificate, other), X, Y).confirmed
    missing = {key: value for key, value in witness.items() if key != "2"}
    assert not nr.verify(restated(certificate, missing), X, Y).confirmed


def test_named_features_all_have_a_weight() -> None:
    rows = [dict(zip("abcdef", row, strict=True)) for row in X.tolist()]
    stream = list(zip(rows, Y.tolist(), strict=True))
    certificate = nr.play(nr.Vaw(), stream).certificate()
    assert list(certificate.hindsight.witness) == list("abcdef")
    assert nr.verify(certificate, stream).failed == ()


def test_a_file_with_one_large_index_has_a_small_certificate(tmp_path: Path) -> None:
    data, file = tmp_path / "wide.svm", tmp_path / "c.json"
    data.write_text("1 60000:1\n-1 1:1 5:0.5\n1 3:1 60000:0.5\n" * 5)
    stream = nr.streams.read(data, intercept=True)
    nr.play(nr.Auto(), stream).certificate().save(file)
    witness = json.loads(file.read_text())["hindsight"]["witness"]
    assert len(witness) == 5
    assert "intercept" in witness
    assert file.stat().st_size < 4_000
    assert nr.verify(file, data).failed == ()


def test_sparse_and_dense_rows_name_the_same() -> None:
    dense = nr.play(nr.Vaw(), X, Y).certificate()
    other = nr.play(nr.Vaw(), sparse.csr_matrix(X), Y).certificate()
    assert other.hindsight.witness.keys() == dense.hindsight.witness.keys()


def test_positions_are_a_sequence_of_names() -> None:
    names = Positions(5, ["intercept"])
    assert list(names) == ["intercept", "0", "1", "2", "3"]
    assert (names[-1], names[1:3], len(names)) == ("3", ["0", "1"], 5)
    assert [names.at(name) for name in names] == [0, 1, 2, 3, 4]
    for unknown in ("4", "-1", "01", "1.0", "", "²", "9" * 30):
        assert names.at(unknown) is None
    with pytest.raises(IndexError):
        names[5]
    assert list(Positions(0, ["intercept"])) == []
