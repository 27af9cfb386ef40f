"""Certificates of merged methods: a digest as a tree over parts, and verification by one pass."""

from __future__ import annotations

import json
import struct
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.batch import LinearRegression, Ridge
from noregret.errors import CertificateError, NoRegretError
from noregret.proof.record.parts_digest import MAX_PARTS, Part, PartsDigest, digest_of, reduced
from tests.thorough import sized

Floats = NDArray[np.float64]


def numbers(rows: int = 300, columns: int = 3, seed: int = 0) -> tuple[Floats, Floats]:
    """Return rows with some zeros, and outcomes that they explain in part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.8)
    return X, X @ np.arange(1.0, columns + 1) + rng.normal(size=rows)


def merged(X: Any, y: Any, ends: list[int], **params: Any) -> Ridge:
    """Return a method merged from parts."""
    method = Ridge(**params)
    for start, stop in pairwise([0, *ends, len(y)]):
        method.merge(Ridge(**params).fit(X[start:stop], y[start:stop]))
    return method


def short_hash(message: bytes) -> bytes:
    return blake2b(message, digest_size=32).digest()


def tree_by_hand(X: Floats, y: Floats, ends: list[int]) -> str:
    """Compute the digest from its description alone."""

    def row(x: Floats, outcome: float) -> bytes:
        runs: list[list[int]] = []
        for k in np.flatnonzero(x).tolist():
            if runs and k == sum(runs[-1]):
                runs[-1][1] += 1
            else:
                runs.append([k, 1])
        values = x[x != 0].tolist()
        head = struct.pack("<II", len(runs), len(values))
        head += b"".join(struct.pack("<II", *run) for run in runs)
        return head + struct.pack(f"<{1 + len(values)}d", outcome, *values)

    def digest(message: bytes, rounds: int) -> bytes:
        chain = bytes(32)
        for start in range(0, len(message), 65536):
            piece = message[start : start + 65536]
            strips = [piece[at : at + 8192] for at in range(0, len(piece), 8192)]
            chain = short_hash(chain + b"".join(map(short_hash, strips)))
        return short_hash(chain + struct.pack("<QQ", rounds, 0))

    def node(leaves: list[bytes]) -> bytes:
        if len(leaves) == 1:
            return leaves[0]
        half = 1
        while 2 * half < len(leaves):
            half *= 2
        return short_hash(b"\1" + node(leaves[:half]) + node(leaves[half:]))

    leaves = []
    for start, stop in pairwise([0, *ends, len(y)]):
        message = b"".join(row(X[k], y[k]) for k in range(start, stop))
        leaves.append(
            short_hash(b"\0" + struct.pack("<Q", stop - start) + digest(message, stop - start))
        )
    total = short_hash(b"\2" + node(leaves) + struct.pack("<QQ", len(y), X.shape[1]))
    return "blake2b:" + total.hex()


@pytest.mark.parametrize("ends", [[100], [1, 299], [50, 100, 150, 200], list(range(20, 300, 20))])
def test_the_digest_is_the_tree_of_its_description(ends: list[int]) -> None:
    X, y = numbers()
    assert merged(X, y, ends).certificate().data.digest == tree_by_hand(X, y, ends)


def test_the_digest_of_parts_does_not_depend_on_pages_and_merging_order() -> None:
    X, y = numbers(1000)
    a, b, c = (
        Ridge().fit(X[part], y[part]) for part in (slice(300), slice(300, 310), slice(310, 1000))
    )
    left, right = a.copy().merge(b).merge(c), a.copy().merge(b.copy().merge(c))
    assert left.certificate().data == right.certificate().data
    page_by_page = PartsDigest(sizes=[300, 10])
    words = [np.frombuffer(struct.pack("<IIII2d", 1, 1, 0, 1, v, 1.0)) for v in y]
    for start in range(0, 1000, 7):
        page_by_page.update(np.concatenate(words[start : start + 7]), len(words[start : start + 7]))
    at_once = PartsDigest(sizes=[300, 10])
    at_once.update(np.concatenate(words), 1000)
    assert page_by_page.parts == at_once.parts
    assert [part.rounds for part in at_once.parts] == [300, 10, 690]


@pytest.mark.parametrize("method", [Ridge, LinearRegression])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_merged_method_certifies_and_is_confirmed(method: Any, intercept: bool) -> None:
    X, y = numbers()
    both = method(intercept=intercept).fit(X[:120], y[:120])
    both.merge(method(intercept=intercept).fit(X[120:], y[120:]))
    certificate, whole = both.certificate(), method(intercept=intercept).fit(X, y).certificate()
    assert certificate.loss.total == pytest.approx(whole.loss.total, rel=1e-9)
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    assert nr.verify(certificate, X, y).confirmed
    # The same data in another order, or fewer of them, are other data.
    assert not nr.verify(certificate, X[::-1], y[::-1]).confirmed
    assert not nr.verify(certificate, X[:-1], y[:-1]).confirmed


def test_fifty_changed_parts_are_each_named(tmp_path: Path) -> None:
    X, y = numbers(200, 2)
    files = []
    for k, part in enumerate(np.split(np.arange(200), 50)):
        path = tmp_path / f"part-{k}.csv"
        table = np.column_stack([X, y])[part].tolist()
        path.write_text("a,b,y\n" + "".join(f"{a!r},{b!r},{t!r}\n" for a, b, t in table))
        files.append(str(path))
    method = Ridge()
    for file in files:
        method.merge(Ridge().fit(file, target="y"))
    certificate = method.certificate()
    assert nr.verify(certificate, files).confirmed
    for k in range(0, 50, sized(7, 1)):
        kept = Path(files[k]).read_text()
        lines = kept.splitlines()
        a, b, t = lines[2].split(",")
        lines[2] = f"{a},{b},{float(np.nextafter(float(t), 9))!r}"
        Path(files[k]).write_text("\n".join(lines) + "\n")
        failed = {line.name: line.note for line in nr.verify(certificate, files).failed}
        assert [name for name in failed if "parts" in name] == [f"data.parts.{k + 1}"]
        note = failed[f"data.parts.{k + 1}"]
        assert f"rows {4 * k + 1} to {4 * k + 4}" in note
        assert f"({files[k]})" in note
        Path(files[k]).write_text(kept)


def test_parts_survive_a_file_and_further_rows(tmp_path: Path) -> None:
    X, y = numbers()
    method = merged(X[:200], y[:200], [80])
    method.save(tmp_path / "model")
    loaded: Any = nr.load(tmp_path / "model")
    loaded.learn_many(X[200:], y[200:])
    certificate = loaded.certificate()
    assert [part.rounds for part in certificate.data.parts] == [80, 120, 100]
    certificate.save(tmp_path / "certificate.json")
    assert nr.load_certificate(tmp_path / "certificate.json") == certificate
    assert nr.verify(tmp_path / "certificate.json", X, y).confirmed


def test_every_changed_part_of_the_certificate_is_refused() -> None:
    X, y = numbers()
    contents = merged(X, y, [100, 150]).certificate().to_dict()
    for change in ("rounds", "digest", "drop", "swap", "more"):
        other = json.loads(json.dumps(contents))
        parts = other["data"]["parts"]
        if change == "rounds":
            parts[0]["rounds"], parts[1]["rounds"] = 101, 49
        elif change == "digest":
            parts[1]["digest"] = parts[1]["digest"][:-1] + (
                "0" if parts[1]["digest"][-1] != "0" else "1"
            )
        elif change == "drop":
            del parts[-1]
        elif change == "swap":
            parts[0], parts[1] = parts[1], parts[0]
        else:
            parts.append({"rounds": 1, "digest": parts[0]["digest"]})
        found = nr.verify(other, X, y)
        assert not found.confirmed
        assert any(line.name.startswith("data.") for line in found.failed), change
    del contents["data"]["parts"]
    assert not nr.verify(contents, X, y).confirmed


def test_other_learners_have_no_parts() -> None:
    X, y = numbers()
    contents = nr.play(nr.Vaw(), X, y).certificate().to_dict()
    contents["data"]["parts"] = [{"rounds": 300, "digest": contents["data"]["digest"]}]
    with pytest.raises(CertificateError, match="does not learn from parts"):
        nr.verify(contents, X, y)


def test_data_that_do_not_read_as_one_stream_certify_nothing(tmp_path: Path) -> None:
    here, there = [{"a": 1.0, "b": 2.0}, {"a": 3.0}], [{"c": 1.0, "b": 5.0}, {"b": 1.0}]
    both = Ridge().fit(here, [1.0, 2.0]).merge(Ridge().fit(there, [7.0, 3.0]))
    with pytest.raises(NoRegretError, match="do not read as one stream"):
        both.certificate()
    file = tmp_path / "days.csv"
    file.write_text("x,y\n1,2\n2,3\n4,4\n")
    scaled = Ridge().fit(nr.streams.read(file, "y", scale="max"))
    with pytest.raises(NoRegretError, match="do not read as one stream"):
        scaled.merge(Ridge().fit(nr.streams.read(file, "y", scale="max"))).certificate()


def test_features_of_a_later_part_in_the_same_order_are_fine() -> None:
    here, there = [{"a": 1.0, "b": 2.0}, {"a": 3.0}], [{"a": 1.0, "b": 5.0, "c": 2.0}, {"b": 1.0}]
    outcomes = [1.0, 2.0, 7.0, 3.0]
    both = Ridge().fit(here, outcomes[:2]).merge(Ridge().fit(there, outcomes[2:]))
    pairs = list(zip(here + there, outcomes, strict=True))
    assert nr.verify(both.certificate(), pairs).confirmed


def test_too_many_parts_are_refused() -> None:
    method = Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
    assert method.game is not None
    many = [Part(1, "blake2b:" + "0" * 64)] * (MAX_PARTS + 1)
    method.game.ledger.digest = PartsDigest(many)
    with pytest.raises(NoRegretError, match="4,097 parts"):
        method.certificate()


def test_the_tree_depends_on_the_number_of_leaves_only() -> None:
    assert reduced("abcdefg", lambda left, right: f"({left}{right})") == "(((ab)(cd))((ef)g))"
    assert reduced("a", lambda left, right: left + right) == "a"
    assert digest_of((), 0, ()) != digest_of((), 1, ())
