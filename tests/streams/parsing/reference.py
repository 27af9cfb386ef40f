"""The formats read slowly and plainly, to check the fast readers against.

Each reader returns rows, and the numbers of the lines that cannot be read.
"""

import math
import re
from typing import NamedTuple

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LARGEST = 1e150
INDEX_LIMIT = 2**24


class Unreadable(Exception):
    """The line is at fault."""


class Row(NamedTuple):
    """One example: features by position or by name, in the order of appearance."""

    line: int
    outcome: float
    importance: float
    tag: str
    features: list[tuple[str | int, float]]


def number(word: bytes) -> float:
    """Read a number, and nothing else."""
    if not NUMBER.fullmatch(word):
        raise Unreadable
    value = float(word)
    if not abs(value) < LARGEST:
        raise Unreadable
    return value


def small_enough(features: list[tuple[str | int, float]]) -> None:
    """Refuse a line of values that may add up to one too large."""
    if not sum(abs(value) for _, value in features) < LARGEST:
        raise Unreadable


def lines_of(text: bytes) -> list[bytes]:
    """Split a text at its newlines; carriage returns at the end of a line do not count."""
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.rstrip(b"\r") for line in lines]


def svmlight_line(
    line: bytes, scored: bool, limit: int | None
) -> tuple[float, list[tuple[int, float]]]:
    """Read a label and features."""
    words = [word for word in re.split(rb"[ \t]+", line.partition(b"#")[0]) if word]
    outcome = math.nan if scored and b":" in words[0] else number(words.pop(0))
    features = []
    for word in words:
        if re.fullmatch(rb"qid:[0-9]+", word):
            continue
        index, colon, value = word.partition(b":")
        if not (re.fullmatch(rb"[0-9]+", index) and colon):
            raise Unreadable
        if limit is not None and (len(index) > 18 or int(index) >= limit):
            raise Unreadable
        features.append((int(index), number(value)))
    small_enough(features)  # type: ignore[arg-type]
    return outcome, features


def read_svmlight(
    text: bytes, scored: bool = False, named: bool = False
) -> tuple[list[Row], list[int]]:
    """Read positions and values; the positions are those of the file."""
    rows, faults = [], []
    for k, line in enumerate(lines_of(text), start=1):
        content = line.lstrip(b" \t")
        if not content or content.startswith(b"#"):
            continue
        try:
            outcome, features = svmlight_line(content, scored, None if named else INDEX_LIMIT)
            rows.append(Row(k, outcome, 1.0, "", list(features)))
        except Unreadable:
            faults.append(k)
    return rows, faults


def vw_head(head: bytes, scored: bool) -> tuple[float, float, str]:
    """Read what stands before the first bar: label, importance, base, tag."""
    if b"\t" in head:
        raise Unreadable
    words = [word for word in head.split(b" ") if word]
    tag = last = b""
    if words and (not head.endswith(b" ") or words[-1].startswith(b"'")):
        last = words.pop()
        tag = last.removeprefix(b"'")
    numbers = [number(word) for word in words]
    touches = not head.endswith(b" ") and NUMBER.fullmatch(last)
    if len(numbers) > 3 or (not numbers and touches and not scored):
        raise Unreadable
    label, importance, base = (*numbers, *(math.nan, 1.0, 0.0)[len(numbers) :])
    if importance < 0 or base != 0:
        raise Unreadable
    return label, importance, tag.decode()


def vw_feature(word: bytes, nameless: int) -> tuple[bytes, float]:
    """Read a name and a value; a value that is text belongs to the name."""
    name, colon, value = word.partition(b":")
    if not colon:
        return name, 1.0
    if NUMBER.fullmatch(value):
        return name or str(nameless).encode(), number(value)
    begins_as_number = re.match(rb"[-+.:0-9]|$|nan|inf", value, re.IGNORECASE)
    if not name or begins_as_number or b":" in value:
        raise Unreadable
    return name + b"^" + value, 1.0


def vw_section(section: bytes, intercept: bool) -> list[tuple[str | int, float]]:
    """Read a namespace and its features."""
    first, *words = re.split(rb"[ \t]", section)
    namespace, colon, scale_text = first.partition(b":")
    scale = number(scale_text) if colon else 1.0
    if len(namespace) > 254 or (colon and not namespace):
        raise Unreadable
    features: list[tuple[str | int, float]] = []
    nameless = 0
    for word in filter(None, words):
        name, value = vw_feature(word, nameless)
        nameless += word.startswith(b":")
        full = namespace + b"^" + name if namespace else name
        if not abs(value * scale) < LARGEST or (intercept and full == b"intercept"):
            raise Unreadable
        if value * scale != 0:
            features.append((full.decode(), value * scale))
    return features


def vw_line(line: bytes, intercept: bool, scored: bool) -> Row:
    """Read a line that is not blank."""
    try:
        line.decode()
        head, bar, rest = line.partition(b"|")
        if not bar or b"\r" in rest:
            raise Unreadable
        label, importance, tag = vw_head(head, scored)
        features = [entry for part in rest.split(b"|") for entry in vw_section(part, intercept)]
        small_enough(features)
    except UnicodeDecodeError:
        raise Unreadable from None
    return Row(0, label, importance, tag, features)


def read_vw(text: bytes, intercept: bool, scored: bool = False) -> tuple[list[Row], list[int]]:
    """Read Vowpal Wabbit's format."""
    rows, faults = [], []
    for k, line in enumerate(lines_of(text), start=1):
        if not line.strip(b" \t"):
            continue
        try:
            rows.append(vw_line(line, intercept, scored)._replace(line=k))
        except Unreadable:
            faults.append(k)
    return rows, faults


def read_csv(
    text: bytes, places: list[int], width: int, delimiter: bytes, zero: bool
) -> tuple[list[list[float]], list[float], list[int]] | None:
    """Read a table of plain numbers; None where it is not one."""
    X, outcomes, lines = [], [], []
    blanks = b" \t".replace(delimiter, b"")
    for k, line in enumerate(lines_of(text), start=1):
        if not line:
            continue
        cells = line.split(delimiter)
        row, outcome = [1.0] * width, math.nan
        if len(cells) != len(places):
            return None
        for cell, place in zip(cells, places, strict=True):
            content = cell.strip(blanks)
            if place == -1:
                continue
            if not content and zero and place >= 0:
                row[place] = 0.0
                continue
            try:
                value = number(content)
            except Unreadable:
                return None
            if place == -2:
                outcome = value
            else:
                row[place] = value
        X.append(row)
        outcomes.append(outcome)
        lines.append(k)
    return None if b'"' in text else (X, outcomes, lines)
