"""Compare the fast readers with the reference."""

import numpy as np

from noregret.streams.parsing.parsed_rows import Rows
from tests.streams.parsing.reference import Row


def summed(features: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    """Positions in order, with the values of equal ones added up as they come."""
    total: dict[int, float] = {}
    for position, value in features:
        total[position] = total[position] + value if position in total else value
    return sorted(total), [total[position] for position in sorted(total)]


def check_rows(rows: Rows, expected: list[Row], features: list[list[tuple[int, float]]]) -> None:
    """Compare rows to the last bit; the features are the expected ones by position."""
    positions, values = zip(*map(summed, features), strict=True) if features else ((), ())
    np.testing.assert_array_equal(rows.starts, np.cumsum([0, *map(len, positions)]))
    np.testing.assert_array_equal(rows.indices, [at for row in positions for at in row])
    same_bits(rows.data, [value for row in values for value in row])
    same_bits(rows.outcomes, [row.outcome for row in expected])
    same_bits(
        np.ones(len(expected)) if rows.importances is None else rows.importances,
        [row.importance for row in expected],
    )
    np.testing.assert_array_equal(rows.lines, [row.line for row in expected])
    assert (rows.tags or [""] * len(expected)) == [row.tag for row in expected]
    assert rows.indices.dtype == np.int32
    assert rows.starts.dtype == rows.lines.dtype == np.int64


def same_bits(numbers: object, expected: object) -> None:
    """Compare doubles to the last bit: zeros by their sign, NaN with NaN."""
    left, right = np.asarray(numbers, np.float64), np.asarray(expected, np.float64)
    np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(np.signbit(left), np.signbit(right))
