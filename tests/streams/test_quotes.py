"""Where quoted text is cut: told against a reader that goes letter by letter."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from noregret.streams.quotes import Quotes

texts = st.lists(st.sampled_from([b'"', b",", b"\n", b"a", b"\r\n", b'""']), max_size=40).map(
    b"".join
)


def line_ends(text: bytes) -> tuple[list[int], bool]:
    """Return where lines end outside of quoted values, and whether one is open at the end."""
    ends: list[int] = []
    state = "start"  # of a value; or in it, quoted, or just after a quote in a quoted one
    for k, letter in enumerate(text.decode()):
        if state == "quoted":
            state = "after" if letter == '"' else "quoted"
        elif (state in {"start", "after"}) and letter == '"':
            state = "quoted"
        else:
            state = "start" if letter in ",\n\r" else "in"
        if letter == "\n" and state != "quoted":
            ends.append(k + 1)
    return ends, state == "quoted"


@settings(max_examples=500)
@given(texts, st.lists(st.integers(1, 12), min_size=1))
def test_blocks_are_cut_after_the_last_line_that_ends_outside_of_quotes(
    text: bytes, sizes: list[int]
) -> None:
    quotes, start = Quotes(b","), 0
    ends, is_open = line_ends(text)
    while start < len(text):
        block = text[start : start + sizes[start % len(sizes)]]
        inside = [end for end in ends if start < end <= start + len(block)]
        assert quotes.last_cut(block) == (inside[-1] - start if inside else 0)
        start += len(block)
    assert quotes.inside == is_open
