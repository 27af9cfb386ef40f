"""Workers confirm what one process confirms, and refuse what it refuses."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import streams
from noregret.batch import LinearRegression, Ridge
from noregret.errors import CertificateError, NoRegretError, WrongUsage
from noregret.proof.certificates.certificate import seal
from noregret.scale import fit, play, verify
from noregret.scale.fitting import fitted
from tests.app.run.commands import command, done
from tests.scale.inline import Inline
from tests.scale.test_fitting import read
from tests.scale.test_groups_on_workers import made, small_parts
from tests.scale.test_shards import fields
from tests.thorough import THOROUGH, sized

assert small_parts  # a fixture
BLOCK = 128


def labelled(paths: list[Path]) -> Any:
    """Return files with two classes, in place of numbers."""
    return streams.read(
        [str(path) for path in paths], "shop", drop=["city"], positive="shop 1", missing="indicator"
    )


def shards(learner: Any, read: Callable[..., Any] = read) -> Callable[[list[Path]], Any]:
    """Return what certifies shards of files."""
    return lambda paths: play(learner, read(paths), shards=5, pool=Inline(1)).certificate()


CERTIFIED: dict[str, tuple[str, Callable[[list[Path]], Any]]] = {
    "sums": ("csv", lambda paths: fitted(Ridge(), read(paths), Inline(1), BLOCK).certificate()),
    "sums with an intercept": (
        "parquet",
        lambda paths: fit(
            LinearRegression(intercept=True), read(paths), pool=Inline(1)
        ).certificate(),
    ),
    "shards": ("files", shards(nr.Vaw())),
    "shards of another loss": ("quotes", shards(nr.GradientDescent("absolute", radius=5.0))),
    "shards of labels": ("csv", shards(nr.Perceptron(), labelled)),
    "groups": (
        "files",
        lambda paths: nr.play(
            nr.Groups(nr.Vaw()),
            streams.read(
                [str(path) for path in paths],
                "sold",
                passed=("shop",),
                drop=["shop", "city"],
                missing="indicator",
            ),
            keys="shop",
        ).certificate(),
    ),
}


def judged(found: Any) -> list[tuple[str, bool, str]]:
    """Return what a verification says of each figure."""
    return [(line.name, line.confirmed, line.note) for line in found.lines]


@pytest.mark.parametrize("kind", CERTIFIED)
@pytest.mark.usefixtures("small_parts")
def test_workers_judge_every_figure_as_one_process_does(kind: str, tmp_path: Path) -> None:
    form, certified = CERTIFIED[kind]
    paths = made(form, tmp_path)
    files, certificate = [str(path) for path in paths], certified(paths)
    alone = nr.verify(certificate, files)
    assert alone.confirmed, alone.failed
    for workers in (1, 3) if THOROUGH else (3,):
        found = verify(certificate, files, pool=Inline(workers))
        assert judged(found) == judged(alone)
    contents = json.loads(json.dumps(certificate.to_dict(), default=dict))
    figures = [path for path in fields(contents) if path[0] not in ("seal", "format")]
    for path in figures[:: sized(len(figures) // 3, full=max(1, len(figures) // 50))]:
        other = copy.deepcopy(contents)
        inner = other
        for key in path[:-1]:
            inner = inner[key]
        value = inner[path[-1]]
        if isinstance(value, bool):
            inner[path[-1]] = not value
        elif isinstance(value, str):
            inner[path[-1]] = value[:-1] + ("0" if value[-1:] != "0" else "1")
        else:
            inner[path[-1]] = value + (1 if isinstance(value, int) else 1e-3 * (abs(value) + 1e-3))
        del other["seal"]
        other["seal"] = seal(other)
        with contextlib.suppress(CertificateError):
            one = nr.verify(other, files)
            assert judged(verify(other, files, pool=Inline(2))) == judged(one), path


@pytest.mark.parametrize("kind", ["sums", "shards"])
@pytest.mark.usefixtures("small_parts")
def test_a_changed_part_is_named_with_its_file(kind: str, tmp_path: Path) -> None:
    paths = made("files", tmp_path)
    certificate = CERTIFIED[kind][1](paths)
    text = paths[1].read_text()
    lines = text.splitlines()
    words = lines[-1].split(",")
    lines[-1] = ",".join([*words[:-1], repr(float(words[-1]) + 1e-9)])
    paths[1].write_text("\n".join(lines) + "\n")
    found = verify(certificate, [str(path) for path in paths], pool=Inline(2))
    parts = [line for line in found.failed if line.name.startswith("data.parts.")]
    assert [line.name for line in parts] == [f"data.parts.{len(certificate.data.parts)}"]
    assert str(paths[1]) in parts[0].note
    # Rows that are missing, and rows that are too many.
    for other in (lines[:-200], [*lines, *lines[-200:]]):
        paths[1].write_text("\n".join(other) + "\n")
        assert not verify(certificate, [str(path) for path in paths], pool=Inline(2)).confirmed
    paths[1].write_text(text)
    assert verify(certificate, [str(path) for path in paths], pool=Inline(2)).confirmed


def test_parts_that_were_merged_one_after_the_other(tmp_path: Path) -> None:
    random, files = np.random.default_rng(3), [tmp_path / f"{k}.csv" for k in range(3)]
    for file, rows in zip(files, (40, 7, 90), strict=True):
        x = random.normal(size=(rows, 2))
        lines = [f"{a},{b},{a - 2 * b + 1 + random.normal()}" for a, b in x.tolist()]
        file.write_text("\n".join(["a,b,y", *lines]) + "\n")
    parts = [Ridge(intercept=True).fit(str(file), target="y") for file in files]
    certificate = parts[0].merge(parts[1]).merge(parts[2]).certificate()
    assert [part.rounds for part in certificate.data.parts] == [40, 7, 90]
    assert nr.verify(certificate, files).confirmed
    assert verify(certificate, files, pool=Inline(2)).confirmed


def test_the_command_confirms_on_workers(tmp_path: Path) -> None:
    (file,) = made("csv", tmp_path)
    proof = tmp_path / "certificate.json"
    asked = ("run", file, "--target", "sold", "--learner", "vaw", "--drop", "shop,city", "--quiet")
    done(*asked, "--shards", "3", "--workers", "2", "--certificate", proof)
    assert "confirmed" in done("verify", proof, file, "--workers", "2")
    lines = file.read_text().splitlines()
    lines[3] = lines[3].rpartition(",")[0] + ",7.25"
    file.write_text("\n".join(lines) + "\n")
    ended = command("verify", proof, file, "--workers", "2")
    assert (ended.code, ended.err) == (1, "")
    assert "data.parts.1" in ended.out


def test_what_workers_cannot_share_is_refused(tmp_path: Path) -> None:
    (file,) = made("csv", tmp_path)
    one = nr.play(nr.Vaw(), read([file])).certificate()
    with pytest.raises(WrongUsage, match="played in order by one process"):
        verify(one, file, pool=Inline(1))
    with pytest.raises(TypeError, match="give their paths"):
        verify(one, [([1.0], 2.0)], pool=Inline(1))  # type: ignore[list-item]
    several = CERTIFIED["shards"][1]([file])
    file.write_text(file.read_text().splitlines()[0] + "\n")
    with pytest.raises(NoRegretError, match="no examples"):
        verify(several, file, pool=Inline(1))
