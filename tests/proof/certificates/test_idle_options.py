"""Options of reading in a certificate: those that change nothing are true, all others are not."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret import streams
from noregret.proof.certificates.certificate import seal
from tests.proof.certificates.games import frame


def learner() -> nr.Learner:
    made: nr.Learner = nr.WidrowHoff(rate=0.4, norm=1.5)
    return made


def restated(contents: dict[str, Any], transforms: list[str]) -> dict[str, Any]:
    changed = copy.deepcopy(contents)
    changed.pop("seal")
    changed["data"]["transforms"] = transforms
    return changed | {"seal": seal(changed)}


def is_confirmed(contents: dict[str, Any], file: Path) -> bool:
    try:
        return nr.verify(contents, file).confirmed
    except nr.NoRegretError:
        return False


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "d.csv"
    frame().to_csv(made, index=False)
    return made


IDLE = ["missing=zero", "quotes=none", "on-error=skip"]


@pytest.mark.parametrize("option", IDLE)
def test_an_option_that_changes_nothing_may_have_been_given(option: str, file: Path) -> None:
    name, _, value = option.partition("=")
    stream = streams.read(file, target="sold", **{name.replace("-", "_"): value})
    honest = nr.play(learner(), stream).certificate().to_dict()
    assert honest["data"]["transforms"] == [option]
    plain = nr.play(learner(), streams.read(file, target="sold")).certificate().to_dict()
    # Nobody can tell the one from the other, and both are true of this file.
    assert restated(plain, [option]) == honest
    assert is_confirmed(honest, file)
    assert is_confirmed(plain, file)


@pytest.mark.parametrize(
    "options",
    [
        ["on-error=stop"],
        ["on-error=skip", "on-error=skip"],
        ["on-error=ignore"],
        ["on-errors=skip"],
        ["missing=banana"],
        ["on-error"],
        ["intercept"],
        ["scale=max"],
    ],
)
def test_options_unknown_written_otherwise_or_with_an_effect_are_refused(
    options: list[str], file: Path
) -> None:
    plain = nr.play(learner(), streams.read(file, target="sold")).certificate().to_dict()
    assert not is_confirmed(restated(plain, options), file)


def test_an_option_that_skipped_rows_cannot_be_left_out_or_put_in(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    table = frame().to_csv(index=False).splitlines()
    bad.write_text("\n".join([*table[:5], "x" + "," * table[0].count(","), *table[5:]]) + "\n")
    stream = streams.read(bad, target="sold", on_error="skip")
    honest = nr.play(learner(), stream).certificate().to_dict()
    assert is_confirmed(honest, bad)
    assert not is_confirmed(restated(honest, []), bad)
