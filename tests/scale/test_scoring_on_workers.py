"""Predictions of a model by several workers: the same bytes as in one process."""

from pathlib import Path

import pytest

from tests.app.run.commands import done, refused
from tests.scale.test_groups_on_workers import made, small_parts, table, write_csv
from tests.thorough import THOROUGH

FORMS = ["csv", "quotes", "parquet", "classes", *(["files", "gzip", "jsonl"] if THOROUGH else [])]
# Of these, predictions are written as Parquet, too.
WRITTEN = FORMS if THOROUGH else ["parquet"]
FILES = [*((kind, ".csv") for kind in FORMS), *((kind, ".parquet") for kind in WRITTEN)]
assert small_parts


@pytest.mark.parametrize(("kind", "suffix"), FILES)
def test_workers_predict_the_same_bytes(
    kind: str, suffix: str, tmp_path: Path, small_parts: None
) -> None:
    files, model = made(kind, tmp_path), tmp_path / "model"
    done("run", *files, "--target", "sold", "--model", model, "--no-hindsight", "--quiet")
    found = []
    for name, workers in (("alone", ()), ("several", ("--workers", "2"))):
        path = tmp_path / f"{name}{suffix}"
        done("predict", model, *files, "--predictions", path, *workers)
        found.append(path.read_bytes())
    assert found[0] == found[1]
    assert len(found[0]) > 10_000


def test_a_model_that_cannot_predict_is_refused_before_workers_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster may take a minute to start."""

    def started(*given: object) -> None:
        raise AssertionError("workers were started")

    path, models = write_csv(table(), tmp_path / "rows.csv"), tmp_path / "models"
    done("run", path, "--target", "sold", "--group", "shop", "--model", models, "--quiet")
    monkeypatch.setattr("noregret.scale.pool_of", started)
    for workers in (("--workers", "2"), ("--cluster", "local")):
        assert "Groups.load reads it" in refused("predict", models, path, *workers)
        said = refused("predict", tmp_path / "none", path, *workers)
        assert "No such file or directory" in said


def test_a_bad_row_is_named_and_skipped_as_in_one_process(
    tmp_path: Path, small_parts: None, capfd: pytest.CaptureFixture[str]
) -> None:
    path, model = write_csv(table(), tmp_path / "rows.csv"), tmp_path / "model"
    done("run", path, "--target", "sold", "--model", model, "--no-hindsight", "--quiet")
    lines = path.read_text().splitlines()
    for row in (700, 1_200):
        lines[row] = lines[row].replace(lines[row].split(",")[2], "1e200")
    path.write_text("\n".join(lines))
    assert refused("predict", model, path) == refused("predict", model, path, "--workers", "2")
    assert "line 701" in refused("predict", model, path, "--workers", "2")
    asked = ("predict", model, path, "--on-error", "skip")
    capfd.readouterr()
    assert done(*asked) == done(*asked, "--workers", "2")
