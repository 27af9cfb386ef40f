"""Every bound and reserved name stands once; headers in C, which cannot import it, agree."""

from __future__ import annotations

import re
from pathlib import Path

from noregret import limits

PACKAGE = Path(__file__).resolve().parent.parent / "src/noregret"
PARSING = PACKAGE / "streams/parsing"


def defined(header: str, name: str) -> str:
    found = re.search(
        rf"^#define {name} (\S+)", (PARSING / header).read_text("utf-8"), re.MULTILINE
    )
    assert found
    return found[1]


def test_headers_repeat_the_limits() -> None:
    assert float(defined("numbers.h", "NOREGRET_MAX_VALUE")) == limits.MAX_VALUE
    assert defined("names.h", "NOREGRET_INTERCEPT") == f'"{limits.INTERCEPT}"'


def test_no_other_module_repeats_a_limit_or_a_reserved_name() -> None:
    repeated = re.compile(rf'^\w+ = (?:{limits.MAX_VALUE:g}|"{limits.INTERCEPT}")$', re.MULTILINE)
    found = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if repeated.search(path.read_text("utf-8"))
    ]
    assert found == ["limits.py"]
