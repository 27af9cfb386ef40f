"""Lines and values without an end: refused in bounded memory, whatever they come in."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from noregret.streams import source
from tests.compiled import measures_memory

from .files import refused, write_zstd

MEGABYTE = 1 << 20
# What a process may need for a line that it cannot read: the package itself, and a few copies of
# the longest line that it would read.
ENOUGH = 700 * MEGABYTE
READ_THEM = """
import json, resource, sys
import noregret
from noregret import streams
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
said = {}
for path in sys.argv[1:]:
    target = None if path.endswith((".svm", ".vw")) else "y"
    try:
        for block in streams.read(path, target).blocks():
            pass
    except noregret.NoRegretError as error:
        said[path] = str(error)
# Not ru_maxrss: that of a process that a large one has started begins with what that one held.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([said, 1024 * int(status["VmHWM"].split()[0])]))
"""
HEADS = {"csv": b"a,y\n", "tsv": b"a\ty\n", "jsonl": b"", "svm": b"", "vw": b""}


@measures_memory
def test_a_sparse_file_without_a_newline_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    files = [tmp_path / f"d.{kind}" for kind in HEADS]
    for file in files:
        file.write_bytes(HEADS[file.suffix[1:]])
        os.truncate(file, 5 << 30)
    found = subprocess.run(
        [sys.executable, "-c", READ_THEM, *files], capture_output=True, check=True, timeout=300
    )
    said, peak = json.loads(found.stdout)
    for file in files:
        start = len(HEADS[file.suffix[1:]])
        assert f"{file}: the line that begins at byte {start} has no end" in said[str(file)]
    assert peak < ENOUGH


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits of lines and values, so that a test is quick."""
    monkeypatch.setattr(source, "MAX_LINE", 6 * MEGABYTE)
    monkeypatch.setattr(source, "MAX_VALUE", 5 * MEGABYTE)


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_plain_and_packed_files_have_the_same_limit(
    kind: str, packing: str, tmp_path: Path
) -> None:
    file = tmp_path / f"d.{kind}{packing}"
    text = HEADS[kind] + b"x" * (20 * MEGABYTE)
    if packing == ".zst":
        write_zstd(text, file)
    else:
        file.write_bytes(gzip.compress(text, 1) if packing else text)
    said = refused(file, target=None if kind in {"svm", "vw"} else "y")
    assert f"begins at byte {len(HEADS[kind])} has no end within 6 MiB" in said
    assert "quote" not in said


@pytest.mark.usefixtures("short_lines")
def test_only_a_quote_that_is_there_is_blamed(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    for value, blamed in ((b'"', True), (b'5" ', False), (b'"x"', False)):
        file.write_bytes(b'a,y\n"1",2\n' + value + b"x" * (20 * MEGABYTE))
        said = refused(file, target="y")
        assert ("line 3: a quote is opened and never closed" in said) == blamed
        assert ("the line that begins at byte 10 has no end" in said) != blamed


def test_a_header_without_rows_is_not_looked_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noregret.streams.file_formats.csv.MAX_LINE", 6 * MEGABYTE)
    (tmp_path / "d.csv").write_bytes(b"a,y\n" + b"\n" * (20 * MEGABYTE))
    assert "no row in its first 6 MiB" in refused(tmp_path / "d.csv", target="y")
