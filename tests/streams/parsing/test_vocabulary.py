"""Names have positions in order of first appearance, and a state brings them all back."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import BadExample
from noregret.streams.parsing.text import resolve_vw, scan_vw
from noregret.streams.parsing.vocabulary import Vocabulary, hash_name

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=60)
BITS = st.sampled_from([None, 1, 4, 30])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", 0xEF46DB3751D8E999),
        ("a", 0xD24EC4F1A98C6E5B),
        ("abc", 0x44BC2CF5AD770999),
        ("Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_the_hash_is_xxh64(name: str, value: int) -> None:
    assert hash_name(name) == value


@given(NAMES, BITS)
def test_positions_count_first_appearances(names: list[str], bits: int | None) -> None:
    vocabulary = Vocabulary(bits)
    keys = names if bits is None else [str(hash_name(name) % 2**bits) for name in names]
    order = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    assert vocabulary.positions(names).tolist() == [-1] * len(names)
    assert vocabulary.positions(names, admit=True).tolist() == [order[key] for key in keys]
    assert vocabulary.positions(names).tolist() == [order[key] for key in keys]
    assert len(vocabulary) == len(order)
    assert vocabulary.names() == [key if bits is None else f"#{key}" for key in order]


@given(NAMES)
def test_shared_counts_slots_with_more_than_one_name(names: list[str]) -> None:
    vocabulary = Vocabulary(4)
    vocabulary.positions(names, admit=True)
    slots: dict[int, set[str]] = {}
    for name in names:
        slots.setdefault(hash_name(name) % 16, set()).add(name)
    assert vocabulary.shared == sum(len(owners) > 1 for owners in slots.values())


@given(NAMES, NAMES, BITS, st.integers(0, 60))
def test_what_is_cut_is_forgotten_and_can_come_again(
    names: list[str], more: list[str], bits: int | None, size: int
) -> None:
    vocabulary = Vocabulary(bits)
    vocabulary.positions(names, admit=True)
    kept = vocabulary.names(0, size)
    vocabulary.cut(size)
    assert vocabulary.names() == kept
    part = Vocabulary.from_state(vocabulary.get_state(), bits)
    np.testing.assert_array_equal(
        part.positions(more + names, admit=True), vocabulary.positions(more + names, admit=True)
    )
    assert part.names() == vocabulary.names()
    assert part.shared == vocabulary.shared


@given(NAMES, BITS, st.integers(0, 60) | st.none())
def test_a_state_brings_all_of_it_back(
    names: list[str], bits: int | None, size: int | None
) -> None:
    vocabulary = Vocabulary(bits)
    vocabulary.positions(names, admit=True)
    state = vocabulary.get_state(size)
    copy = Vocabulary.from_state(state, bits)
    assert copy.names() == vocabulary.names(0, size)
    assert copy.bits == bits
    for key, array in copy.get_state().items():
        np.testing.assert_array_equal(array, state[key])


@pytest.mark.parametrize(
    ("state", "bits", "words"),
    [
        ({}, None, "made of bytes and ends"),
        ({"bytes": np.zeros(3, np.uint8), "ends": np.array([2, 1])}, None, "outside of its text"),
        ({"bytes": np.zeros(3, np.uint8), "ends": np.array([-1, 3])}, None, "outside of its text"),
        ({"bytes": np.zeros(3, np.uint8), "ends": np.array([1, 4])}, None, "outside of its text"),
        (
            {"bytes": np.arange(3, dtype=np.uint8), "ends": np.array([1, 2])},
            None,
            "take 2 bytes, but there are 3",
        ),
        ({"bytes": np.zeros(2, np.uint8), "ends": np.array([1, 2])}, None, "have the same name"),
        ({"bytes": np.full(1, 255, np.uint8), "ends": np.array([1])}, None, "not valid text"),
        ({"bytes": np.zeros(2), "ends": np.array([1, 2])}, None, "one row of uint8"),
        ({"owners": np.array([1, 17], np.uint64), "taken": np.zeros(2, np.uint8)}, 4, "same slot"),
        ({"owners": np.array([1, 2], np.uint64), "taken": np.zeros(1, np.uint8)}, 4, "2 owners"),
        ({"owners": np.array([1], np.uint64), "taken": np.full(1, 2, np.uint8)}, 4, "0 or 1"),
    ],
)
def test_a_state_that_does_not_fit_together_is_refused(
    state: dict[str, np.ndarray], bits: int | None, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Vocabulary.from_state(state, bits)


def test_names_that_no_file_can_hold_are_refused() -> None:
    with pytest.raises(BadExample, match="not valid text"):
        Vocabulary().positions(["\ud800"], admit=True)
    with pytest.raises(TypeError, match="strings"):
        Vocabulary().positions([3])  # type: ignore[list-item]
    for bits in (0, 31, -1):
        with pytest.raises(ValueError, match="from 1 to 30"):
            Vocabulary(bits)


def test_a_vocabulary_in_use_is_refused_to_others() -> None:
    vocabulary = Vocabulary()
    text = b"".join(
        b"1 | %s\n" % b" ".join(b"w%d" % (k * 40 + j) for j in range(40)) for k in range(20_000)
    )
    scanned = scan_vw(text, 1, False)
    thread = threading.Thread(target=resolve_vw, args=(scanned, vocabulary))
    refused = 0
    thread.start()
    while thread.is_alive():
        try:
            vocabulary.positions(["x"])
        except RuntimeError as error:
            assert "in use" in str(error)  # noqa: PT017
            refused += 1
    thread.join()
    assert refused > 0
    assert len(vocabulary) == 800_000
