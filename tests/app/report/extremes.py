"""Results with the most awkward names and numbers in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from noregret.app.results.findings import Found, Member
from noregret.app.results.loss_choice import Choice
from noregret.app.results.run import Calibration, Constant, Histogram, Outlook, Result, Skipped
from noregret.proof.record.moment import Curve
from tests.app.report.results import classification, nothing, regression

HOSTILE = [
    "",
    "<script>alert(1)</script>",
    "</title></style></script><img src=x onerror=alert(1)>",
    "--><svg onload=alert(1)>",
    "[bold red]markup[/bold red] [/]",
    "\x1b[31mred\x1b[0m\x07\x00",
    "a\nline\r\tand another\u2028",
    "\u202egnirts\ud800",
    "\"quoted\" & 'so' &amp;",
    "a name much longer than any terminal is wide " * 9,
    "wordwithoutanyspacesatall" * 30,
    "漢字🙂",
]
names = st.sampled_from(HOSTILE) | st.text(max_size=40)
numbers = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 1e-12, 5e-324, -5e-324, 1.7e308, -1.7e308, 1e15, 123456.789]
) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.just("x")
unknown = numbers | st.sampled_from([np.nan, np.inf, -np.inf])
counts = st.integers(0, 3) | st.integers(0, 10**12)


def arrays(values: st.SearchStrategy[Any], size: int, kind: type = float) -> Any:
    return st.lists(values, min_size=size, max_size=size).map(lambda made: np.array(made, kind))


@st.composite
def curves(draw: Any) -> Curve:
    size = draw(st.integers(0, 6))
    rounds = np.cumsum(draw(arrays(st.sampled_from([1, 2, 10**3, 10**9]), size, np.int64)))
    columns = [draw(arrays(unknown, size)) for _ in range(3)]
    return Curve(
        rounds.astype(np.int64),
        columns[0],
        np.zeros(size, np.int64),
        columns[1],
        columns[2],
        draw(arrays(st.booleans(), size, bool)),
    )


@st.composite
def outlooks(draw: Any) -> Outlook:
    bins = draw(st.integers(1, 4))
    edges = np.sort(draw(arrays(unknown, bins + 1)))
    return Outlook(
        draw(st.none() | st.just(Histogram(edges, draw(arrays(counts, bins, np.int64))))),
        draw(st.none() | arrays(arrays(counts, bins, np.int64), bins, np.int64)),
        draw(numbers),
        draw(numbers),
        draw(
            st.none()
            | st.builds(
                Calibration,
                arrays(st.floats(0, 1) | st.just(np.nan), bins),
                arrays(st.floats(0, 1) | st.just(np.nan), bins),
                arrays(counts, bins, np.int64),
            )
        ),
        draw(st.none() | st.tuples(st.tuples(counts, counts), st.tuples(counts, counts))),
    )


@st.composite
def findings(draw: Any, texts: Any = PLAIN, values: Any = unknown) -> Found:
    """Draw the findings of a learner: any words, weights that are shares, any losses."""
    groups = ("long memory", "short memory", "plain guesses")
    moments = draw(st.integers(0, 3))
    share = st.floats(0, 1)
    return Found(
        draw(texts),
        {"drift": draw(values)},
        tuple((draw(texts), draw(share)) for _ in range(draw(st.integers(0, 3)))),
        tuple(
            Member(draw(texts), draw(st.sampled_from(groups)), draw(share), draw(values))
            for _ in range(draw(st.integers(0, 12)))
        ),
        groups,
        np.cumsum(draw(arrays(st.integers(1, 10**9), moments, np.int64))),
        draw(arrays(share, 3 * moments)).reshape(moments, 3),
    )


@st.composite
def numbered(draw: Any) -> Result:
    """A result whose numbers may be anything."""
    made: Result = draw(
        st.sampled_from([regression(50), classification(50), regression(1), nothing()])
    )
    certified = draw(st.booleans())
    size = st.integers(0, 10**15)
    return replace(
        made,
        rows=draw(st.just(made.rows) | counts),
        features=draw(counts),
        size=draw(st.none() | size),
        seconds=draw(st.floats(0, 1e7)),
        total=draw(unknown),
        mistakes=draw(st.none() | counts),
        weight=draw(st.none() | numbers.map(abs)),
        constant=draw(st.none() | st.builds(Constant, unknown, unknown)),
        certificate=made.certificate if certified else None,
        uncertified=None if certified else draw(st.none() | st.just("it was not asked for")),
        curve=draw(curves()),
        heaviest=tuple((f"x{i}", w) for i, w in enumerate(draw(st.lists(unknown, max_size=4)))),
        outlook=draw(outlooks()),
        skipped=draw(counts),
        skipped_rows=(),
        shared=draw(st.none() | counts),
        interrupted=draw(st.booleans()),
        target=draw(st.none() | st.just("sold")),
        found=draw(st.none() | findings()),
    )


@st.composite
def named(draw: Any) -> Result:
    """A result whose names may be anything."""
    texts = st.lists(names, max_size=3).map(tuple)
    made: Result = draw(st.sampled_from([regression(50), nothing()]))
    return replace(
        made,
        sources=draw(texts),
        format=draw(names),
        learner=draw(names),
        name=draw(names),
        params={draw(names): draw(names)},
        loss=draw(names),
        heaviest=tuple((name, 1.0) for name in draw(texts)),
        transforms=draw(texts),
        target=draw(names),
        skipped=3,
        skipped_rows=tuple(draw(st.lists(st.builds(Skipped, names, names), max_size=3))),
        uncertified=draw(names),
        command=draw(names),
        version=draw(names),
        started=draw(names),
        outputs={draw(names): draw(names)},
        choice=draw(st.none() | st.builds(Choice, names, names, names)),
        found=draw(st.none() | findings(names, st.just(1.0))),
    )
