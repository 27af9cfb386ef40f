"""Many learners on one stream: the game of an ensemble in one process, whatever the workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import streams
from noregret.errors import NoRegretError
from noregret.experts import AdaHedge, Blend, Experts
from noregret.scale import Processes, grid, tournament
from noregret.scale.contest import master_for, named
from noregret.scale.work_folder import PREFIX
from tests.scale.inline import Inline
from tests.thorough import sized

ROWS = sized(400, full=20_000)


def write_rows(path: Path, rows: int = ROWS, labels: bool = False, bad: int | None = None) -> str:
    """Write numbers, a column of categories and outcomes, with gaps; return the path."""
    rng = np.random.default_rng(5)
    lines = ["sun,wind,town,sold"]
    for k in range(rows):
        sun, wind = rng.normal(size=2).tolist()
        town, noise = ("Oslo", "Rome", "")[k % 3], rng.normal()
        sold: Any = 3 * sun - wind + 0.3 * noise + (town == "Rome")
        sold = ("no", "yes")[int(sold > 0)] if labels else sold
        outcome = "" if k % 50 == 7 else sold
        lines.append(f"{'x?!' if k == bad else sun},{wind},{town},{outcome}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def learners() -> dict[str, Any]:
    """Return learners of all sorts, and a grid with seeds."""
    made = {"auto": nr.Auto(), "vaw": nr.Vaw(), **grid("gradient-descent", rate=[0.01, 0.1])}
    return made | grid("mondrian-forest", seed=[1, 2], trees=[2])


def figures(game: Any) -> tuple[Any, ...]:
    """Return the bits of a game: certificate, forecasts, learners, weights."""
    experts = game.experts
    weights = [
        np.asarray(getattr(experts[name], "weights", 0)).tobytes() for name in experts.losses
    ]
    said = [game.advice.column(name).to_numpy().tobytes() for name in game.feature_names]
    return game.certificate().to_json(), said, weights, experts.weights, experts.retired


def test_any_number_of_workers_plays_the_game_of_the_ensemble(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv")
    found = [
        figures(tournament(learners(), file, "sold", missing="indicator", pool=Inline(workers)))
        for workers in (1, 2, 3)
    ]
    assert found[1:] == found[:-1]
    # One process, row by row, from examples with an outcome.
    stream = streams.read(file, "sold", missing="indicator")
    rows = [(x, y) for x, y in stream if not np.isnan(y)]
    game = nr.play(Experts(learners(), Blend()), rows)
    assert figures(game)[1:] == found[0][1:]
    assert game.certificate().to_json() == found[0][0]


def test_verify_confirms_and_a_changed_forecast_is_found(tmp_path: Path) -> None:
    game = tournament(
        learners(), write_rows(tmp_path / "rows.csv"), "sold", missing="zero", pool=Inline(2)
    )
    certificate, advice = game.certificate(), game.advice
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    best = min(
        np.sum((advice.column(name).to_numpy() - game.outcomes) ** 2)
        for name in advice.column_names
    )
    assert certificate.hindsight.loss == pytest.approx(best, rel=1e-9)
    assert nr.verify(certificate, advice, game.outcomes).confirmed
    other = game.outcomes.copy()
    other[3] = np.nextafter(other[3], np.inf)
    assert not nr.verify(certificate, advice, other).confirmed


@pytest.mark.parametrize(
    ("made", "loss"),
    [
        ({"auto": nr.Auto(loss="logistic"), "gd": nr.GradientDescent(loss="logistic")}, "log"),
        ({"auto": nr.Auto(loss="logistic"), "p": nr.Perceptron()}, "zero-one"),
    ],
)
def test_two_classes(made: dict[str, Any], loss: str, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv", labels=True)
    game = tournament(made, file, "sold", positive="yes", missing="zero", pool=Inline(2))
    assert game.player.loss == loss
    stream = streams.read(file, "sold", positive="yes", missing="zero")
    rows = [(x, y) for x, y in stream if not np.isnan(y)]
    assert game.loss == nr.play(Experts(made, Blend(loss)), rows).loss
    assert nr.verify(game.certificate(), game.advice, game.outcomes).confirmed


def test_the_default_master_has_the_loss_of_the_learners() -> None:
    assert master_for({"a": nr.Auto(loss="absolute"), "b": nr.Auto(loss="absolute")}).params[
        "loss"
    ] == ("absolute")
    assert master_for({"a": nr.Auto(), "b": nr.Auto(loss="absolute")}).params["loss"] == "square"


def test_the_ensemble_learns_on_and_is_saved(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv")
    made = {"auto": nr.Auto(), "vaw": nr.Vaw()}
    game = tournament(made, file, "sold", missing="zero", master=AdaHedge(), pool=Inline(1))
    game.experts.save(tmp_path / "model")
    again = nr.load(tmp_path / "model")
    for experts in (again, game.experts):
        experts.learn_one({"sun": 1.0, "wind": 2.0}, 1.5)
    x = {"sun": 0.5, "wind": -1.0}
    assert again.predict_one(x) == game.experts.predict_one(x)
    assert made["vaw"].rounds == 0


# What goes wrong.


def test_a_learner_that_diverges_sleeps_and_is_named_while_others_go_on(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv")
    wild = nr.GradientDescent(rate=1e3)
    made = {"vaw": nr.Vaw(), "wild": wild}
    game = tournament(made, file, "sold", missing="zero", pool=Inline(2))
    stream = streams.read(file, "sold", missing="zero")
    rows = [(x, y) for x, y in stream if not np.isnan(y)]
    alone = nr.play(Experts({"vaw": nr.Vaw(), "wild": wild.clone()}, Blend()), rows)
    assert list(game.experts.retired) == ["wild"]
    assert "rows.csv, line " in game.experts.retired["wild"]
    assert game.loss == alone.loss
    assert np.isnan(game.advice.column("wild").to_numpy()[-1])
    assert nr.verify(game.certificate(), game.advice, game.outcomes).confirmed
    with pytest.raises(NoRegretError, match=r"every learner has stopped .*wild.*line \d"):
        tournament({"wild": wild}, file, "sold", missing="zero", pool=Inline(1))


def test_rows_that_one_learner_refuses_are_left_to_the_others(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a,y\n" + "1,1\n2,0\n-3,1\n" * 20 + "1,7\n" + "2,1\n" * 9)
    made = {"p": nr.Perceptron(), "gd": nr.GradientDescent(loss="hinge")}
    with pytest.raises(NoRegretError, match=r"every learner .*rows.csv, line 62"):
        tournament(made, file, "y", pool=Inline(1))
    game = tournament(made, file, "y", on_error="skip", pool=Inline(1))
    assert game.rounds == 69


@pytest.mark.parametrize("pool", [Inline, Processes])
def test_a_bad_file_is_named_with_its_line_and_worker(pool: Any, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv", bad=3 * ROWS // 4)
    with (
        pool(2) as workers,
        pytest.raises(NoRegretError, match=rf"line {3 * ROWS // 4 + 2}.*worker of auto") as found,
    ):
        tournament({"auto": nr.Auto(), "vaw": nr.Vaw()}, file, "sold", pool=workers, missing="zero")
    assert found.value.file == file
    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_what_cannot_be_played_is_refused(tmp_path: Path) -> None:
    empty, pool = tmp_path / "empty.csv", Inline(1)
    empty.write_text("a,y\n")
    made = {"vaw": nr.Vaw()}
    with pytest.raises(NoRegretError, match=r"empty.csv: there are no examples"):
        tournament(made, empty, "y", pool=pool)
    with pytest.raises(TypeError, match="between learners"):
        tournament({"f": lambda x: 1.0}, empty, "y", pool=pool)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no experts"):
        tournament([], empty, "y", pool=pool)
    trained = nr.Vaw()
    trained.learn_one([1.0], 1.0)
    with pytest.raises(NoRegretError, match="has learned before"):
        tournament([trained], empty, "y", pool=pool)
    with pytest.raises(NoRegretError, match="needs numbers"):
        tournament([nr.Perceptron()], empty, "y", master=Blend(), pool=pool)
    weighted = tmp_path / "rows.vw"
    weighted.write_text("1 2.0 | a:1\n0 1.0 | a:2\n")
    with pytest.raises(NoRegretError, match=r"rows.vw, line 1: masters take every row"):
        tournament(made, weighted, pool=pool)


def test_names_tell_learners_apart() -> None:
    assert list(named([nr.Vaw(), nr.Auto(), nr.Vaw(), nr.Auto(loss="absolute")])) == [
        "vaw",
        "auto loss=square",
        "vaw 2",
        "auto loss=absolute",
    ]
    assert len(grid(nr.Vaw, penalty=[1, 2], forgetting=[0.5, 0.9, 1])) == 6


# Faults.


def test_a_worker_killed_in_the_middle_costs_only_time(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv", rows=sized(3_000, full=20_000))
    alone = figures(tournament(learners(), file, "sold", missing="zero", pool=Inline(1)))
    killed: list[int] = []
    with Processes(2) as pool:

        def kill() -> None:
            until = time.monotonic() + 60
            while not killed and time.monotonic() < until:
                for worker in list(pool.found):
                    if worker.task is not None and not killed:
                        time.sleep(0.05)
                        os.kill(worker.process.pid, signal.SIGKILL)
                        killed.append(worker.process.pid)
                time.sleep(0.01)

        killer = threading.Thread(target=kill)
        killer.start()
        game = tournament(learners(), file, "sold", missing="zero", pool=pool)
        killer.join()
    assert killed
    assert figures(game) == alone


def test_a_tournament_continues_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from noregret.scale import entrants

    file, done = write_rows(tmp_path / "rows.csv"), list[str]()
    alone = figures(tournament(learners(), file, "sold", missing="zero", pool=Inline(1)))
    real = entrants.played

    def played(task: Any) -> None:
        done.append(task.name)
        if len(done) == 3:
            raise KeyboardInterrupt
        real(task)

    monkeypatch.setattr(entrants, "played", played)
    monkeypatch.setattr("tests.scale.inline.pickle.dumps", lambda what: what)
    monkeypatch.setattr("tests.scale.inline.pickle.loads", lambda what: what)
    folder = tmp_path / "work"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        tournament(learners(), file, "sold", missing="zero", pool=Inline(1), folder=folder)
    first = done[:2]
    # One of the two files is damaged, and made again.
    path = next(folder.glob(f"{PREFIX}*/learner-0"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    game = tournament(learners(), file, "sold", missing="zero", pool=Inline(1), folder=folder)
    assert figures(game) == alone
    assert first[0] in done[3:]
    assert first[1] not in done[3:]
    assert list(folder.iterdir()) == []


def test_a_file_that_changes_meanwhile_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from noregret.scale.entrants import entered as real

    file = write_rows(tmp_path / "rows.csv")

    def entered(*what: Any) -> Any:
        found = real(*what)
        write_rows(tmp_path / "rows.csv", rows=ROWS + 1)
        return found

    monkeypatch.setattr("noregret.scale.contest.entered", entered)
    with pytest.raises(NoRegretError, match="the data have changed since"):
        tournament({"vaw": nr.Vaw()}, file, "sold", missing="zero", pool=Inline(1))
