"""The table of models says where there is no room."""

from __future__ import annotations

from pathlib import Path

import pytest

from noregret.base.model_table import ModelTable
from noregret.errors import NoRegretError


def test_a_full_folder_of_temporary_files_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path))
    table = ModelTable()
    table.rows.execute("PRAGMA max_page_count = 8")
    with pytest.raises(NoRegretError, match=r"do not fit .* is full: .*TMPDIR") as raised:
        table.put((f"k{k}", 1, 0.5, bytes(1000)) for k in range(100))
    assert raised.value.file == str(tmp_path)


def test_a_copy_leaves_one_file(tmp_path: Path) -> None:
    table = ModelTable()
    table.put((f"k{k}", 1, 0.5, bytes(1000)) for k in range(100))
    table.copy_to(tmp_path / "m")
    assert [each.name for each in tmp_path.iterdir()] == ["m"]
    assert len([*ModelTable(tmp_path / "m")]) == 100
