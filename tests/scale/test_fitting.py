"""Sums that merge: the same bits for any number of workers, and certificates that verify."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import scale, streams
from noregret.batch import LinearRegression, OnlineToBatch, Ridge
from noregret.errors import NoRegretError, WrongUsage
from noregret.scale import Processes, fit
from noregret.scale.fitting import fitted
from noregret.scale.survey import surveyed
from tests.scale.inline import Inline
from tests.scale.test_groups_on_workers import made, small_parts, table, write_csv

assert small_parts  # a fixture
FORMS = ["csv", "parquet", "jsonl", "files", "quotes", "gzip"]
BLOCK = 128


def read(paths: list[Path]) -> Any:
    return streams.read([str(path) for path in paths], "sold", drop=["shop"], missing="indicator")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("small_parts")
def test_bits_do_not_depend_on_workers_and_verify_confirms(form: str, tmp_path: Path) -> None:
    paths = made(form, tmp_path)
    found = []
    for workers in (1, 2, 3, 7):
        method = fitted(Ridge(), read(paths), Inline(workers), BLOCK)
        found.append((method.features, method.weights.tobytes(), method.certificate().to_json()))
    assert found[1:] == found[:-1]
    certificate, one = method.certificate(), Ridge().fit(read(paths))
    assert method.features == one.features
    assert np.allclose(method.weights, one.weights, rtol=1e-9, atol=1e-12)
    assert certificate.loss.total == pytest.approx(one.certificate().loss.total, rel=1e-9)
    assert {part.rounds for part in certificate.data.parts[:-1]} == {BLOCK}
    done = nr.verify(certificate, [str(path) for path in paths])
    assert done.confirmed, done.failed


@pytest.mark.usefixtures("small_parts")
def test_the_certificate_does_not_depend_on_how_files_are_cut(tmp_path: Path) -> None:
    rows = table()
    whole = write_csv(rows, tmp_path / "whole.csv")
    ends = [0, 7, 7, 800, 801, 1_300, rows.num_rows]
    cut = [
        write_csv(rows.slice(a, b - a), tmp_path / f"{k}.csv")
        for k, (a, b) in enumerate(itertools.pairwise(ends))
    ]
    one, other = (
        fitted(LinearRegression(), read(paths), Inline(2), BLOCK) for paths in ([whole], cut)
    )
    assert one.weights.tobytes() == other.weights.tobytes()
    assert one.certificate().to_json() == other.certificate().to_json()


def test_processes_find_the_same_bits(tmp_path: Path) -> None:
    paths = made("files", tmp_path)
    here = fitted(Ridge(), read(paths), Inline(1))
    with Processes(2) as pool:
        there = fit(Ridge(), read(paths), pool=pool)
    assert here.weights.tobytes() == there.weights.tobytes()
    assert here.certificate().to_json() == there.certificate().to_json()
    more = there.copy().merge(here)  # it goes on merging
    assert more.rounds == 2 * here.rounds
    assert nr.verify(more.certificate(), [str(path) for path in [*paths, *paths]]).confirmed


def test_columns_without_names_are_as_wide_as_the_widest_part(tmp_path: Path) -> None:
    one, two = tmp_path / "1.svm", tmp_path / "2.svm"
    one.write_text("".join(f"{k % 5} 1:{k % 3} 2:1\n" for k in range(300)))
    two.write_text("".join(f"{k % 7} 1:{k % 4} 7:2 9:{k % 2}\n" for k in range(300)))
    method = fitted(Ridge(), streams.read([str(one), str(two)]), Inline(2), BLOCK)
    alone = Ridge().fit(streams.read([str(one), str(two)]))
    assert np.allclose(method.weights, alone.weights)
    assert method.certificate().data.features == alone.certificate().data.features
    assert nr.verify(method.certificate(), [str(one), str(two)]).confirmed


@pytest.mark.usefixtures("small_parts")
def test_rows_of_any_range_are_those_of_one_pass(tmp_path: Path) -> None:
    survey = surveyed(read(made("csv", tmp_path)), Inline(1))
    whole, _ = next(survey.blocks([survey.rows]))
    random = np.random.default_rng(2)
    for _ in range(10):
        first, stop = sorted(random.choice(survey.rows + 1, 2, replace=False).tolist())
        here, before = survey.restricted(first, stop)
        sizes = [17, max(0, stop - first - 17)]
        y = [block.y for block, _ in here.blocks(sizes, first - before)]
        assert np.array_equal(np.concatenate(y)[: stop - first], whole.y[first:stop])
        assert len(here.parts) <= len(survey.parts)


@pytest.mark.usefixtures("small_parts")
def test_a_bad_row_is_named_by_file_and_line(tmp_path: Path) -> None:
    paths = made("files", tmp_path)
    lines = paths[1].read_text().splitlines()
    lines[500] = lines[500].rpartition(",")[0] + ",much"
    paths[1].write_text("\n".join(lines) + "\n")
    with pytest.raises(NoRegretError) as error:
        fitted(Ridge(), read(paths), Inline(2), BLOCK)
    assert (error.value.file, error.value.line) == (str(paths[1]), 501)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "job",
    [
        lambda stream: fitted(Ridge(), stream, Inline(2), BLOCK),
        lambda stream: scale.play(nr.Vaw(), stream, shards=3, pool=Inline(2)),
    ],
)
def test_a_row_that_a_learner_refuses_is_named_by_file_and_line(job: Any, tmp_path: Path) -> None:
    paths = made("files", tmp_path)
    for line in (3, 400, 500):
        text = paths[1].read_text()
        lines = text.splitlines()
        lines[line - 1] = lines[line - 1].rpartition(",")[0] + ",1e160"
        paths[1].write_text("\n".join(lines) + "\n")
        with pytest.raises(NoRegretError, match="below 1e") as error:
            job(read(paths))
        assert (error.value.file, error.value.line) == (str(paths[1]), line)
        paths[1].write_text(text)


def test_files_without_rows_tell_nothing_of_how_to_read(tmp_path: Path) -> None:
    rows = [f"2024-01-{day + 1:02},{day}" for day in range(28)]
    (tmp_path / "a.csv").write_text("\n".join(["day,sold", *rows]) + "\n")
    (tmp_path / "b.csv").write_text("day,sold\n")
    alone, both = (
        fit(Ridge(), [tmp_path / name for name in names], "sold", pool=Inline(2))
        for names in (["a.csv"], ["a.csv", "b.csv"])
    )
    assert both.weights.tolist() == alone.weights.tolist()


def test_what_workers_cannot_share_is_refused(tmp_path: Path) -> None:
    path = str(made("csv", tmp_path)[0])
    with pytest.raises(WrongUsage, match="scale makes rows depend on those before"):
        fit(Ridge(), path, "sold", pool=Inline(1), scale="max")
    with pytest.raises(WrongUsage, match="not for several workers"):
        fit(Ridge(), path, "sold", pool=Inline(1), on_error="skip")
    with pytest.raises(TypeError, match="needs only sums"):
        fit(OnlineToBatch(nr.WidrowHoff()), path, "sold", pool=Inline(1))
    with pytest.raises(TypeError, match="already"):
        fit(Ridge(), streams.read(path, "sold"), "sold", pool=Inline(1))
    empty = tmp_path / "empty.csv"
    empty.write_text("sold,sun\n")
    with pytest.raises(NoRegretError, match="no examples"):
        fit(Ridge(), empty, "sold", pool=Inline(1))
