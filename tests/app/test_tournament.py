"""``noregret tournament``: many learners on one file, mixed, certified, saved and used."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.app.cli.commands.tournament import parsed
from noregret.app.commands.run.predictions import write
from noregret.base.locks import Lock
from noregret.errors import WrongUsage
from noregret.scale.work_folder import PREFIX
from tests.app.run.commands import command, done, refused
from tests.scale.inline import Inline
from tests.scale.test_faults import COMMAND, workers_of
from tests.scale.test_tournament import write_rows

FIELD = (
    *("--learner", "auto", "--learner", "vaw", "--learner", "gradient-descent:rate=0.01,0.1"),
    *("--target", "sold"),
)
NAMES = ["auto", "gradient-descent rate=0.01", "gradient-descent rate=0.1", "vaw"]


@pytest.fixture(autouse=True)
def near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers be in this process, which is quicker."""
    monkeypatch.setattr("noregret.scale.pool_of", lambda workers, cluster: Inline(workers or 2))


def columns(path: Path) -> dict[str, list[str]]:
    """Return the columns of a CSV file."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def floats(column: list[str]) -> Any:
    return np.array([float(value or "nan") for value in column])


def test_workers_write_the_same_bytes_and_learners_play_as_alone(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv")
    kinds = {"predictions": "p.csv", "forecasts": "f.csv", "weights": "w.csv", "certificate": "c"}
    found = []
    for workers in ("1", "2", "3"):
        to = {kind: tmp_path / (workers + name) for kind, name in kinds.items()}
        options = [word for kind, path in to.items() for word in (f"--{kind}", path)]
        done("tournament", file, *FIELD, "--quiet", "--workers", workers, *options)
        found.append([path.read_bytes() for path in to.values()])
    assert found[1:] == found[:-1]
    forecasts = columns(to["forecasts"])
    assert list(forecasts) == [*NAMES, "sold"]
    # Each learner has predicted what ‘noregret run’ with it does.
    for name, *params in (["auto"], ["gradient-descent rate=0.1", "-p", "rate=0.1"]):
        alone = tmp_path / "alone.csv"
        who = ("--learner", name.split()[0], *params)
        done("run", file, "--target", "sold", *who, "--predictions", alone, "--quiet")
        assert columns(alone)["prediction"] == forecasts[name]
    # The certificate is confirmed from the forecasts, and is that of ‘noregret mix’.
    done("verify", to["certificate"], to["forecasts"])
    mixed, plain = tmp_path / "mixed", ("--no-correct", "--no-average")
    done("mix", to["forecasts"], "--target", "sold", *plain, "--certificate", mixed, "-q")
    assert mixed.read_bytes() == to["certificate"].read_bytes()


def test_a_certificate_is_confirmed_from_the_data(tmp_path: Path) -> None:
    file, proof = write_rows(tmp_path / "rows.csv"), tmp_path / "c.json"
    done("tournament", file, *FIELD, "--quiet", "--certificate", proof)
    assert "CONFIRMED" in done("tournament", file, *FIELD, "--confirm", proof)
    said = refused("tournament", file, *FIELD[:-4], "--target", "sold", "--confirm", proof)
    assert "NOT CONFIRMED" in said
    assert "here 2 (auto, vaw)" in said
    first, row, *rest = Path(file).read_text().splitlines()
    Path(file).write_text("\n".join([first, row.replace("1", "2"), *rest]))
    ended = command("tournament", file, *FIELD, "--confirm", proof)
    assert ended.code == 1
    assert "data.digest" in ended.out


@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_a_certificate_of_another_game_on_the_forecasts_is_refused(
    tmp_path: Path, name: str
) -> None:
    """The certificate names target, columns and master: those are the tournament's, or refused."""
    file, table, proof = write_rows(tmp_path / "rows.csv"), tmp_path / name, tmp_path / "c.json"
    field = ("--learner", "auto", "--learner", "nlms", "--target", "sold")
    done("tournament", file, *field, "--forecasts", table, "--quiet")
    plain = ("--no-average", "--no-correct", "--quiet", "--certificate", proof)
    for args, why in (
        (("--target", "nlms", "--all-columns"), "its target is nlms, here sold"),
        (("--target", "sold", "--drop", "auto"), "read with drop=auto, missing=asleep, here with"),
        (("--target", "sold", "--learner", "ml-poly"), "its master is ml-poly, here blend"),
        (("--target", "sold", "--loss", "absolute"), "loss of its master is absolute, here square"),
    ):
        done("mix", table, *args, *plain)
        assert why in refused("tournament", file, *field, "--confirm", proof)
    done("mix", table, "--target", "sold", "--no-average", "-q", "--certificate", proof)
    said = refused("tournament", file, *field, "--confirm", proof)
    assert "3 experts (auto, corrected, nlms), here 2 (auto, nlms)" in said
    done("run", file, "--target", "sold", "--learner", "vaw", "-q", "--certificate", proof)
    said = refused("tournament", file, *field, "--confirm", proof)
    assert "it is about vaw, which does not mix forecasts" in said
    # Parameters of the master that were given are those of the certificate.
    master = ("--master", "fixed-share:share=0.05")
    done("tournament", file, *field, *master, "--quiet", "--certificate", proof)
    assert "CONFIRMED: every" in done("tournament", file, *field, *master, "--confirm", proof)
    other = refused("tournament", file, *field, "--master", "fixed-share", "--confirm", proof)
    assert "share of its master is 0.05, here" in other


def test_the_files_of_a_tournament_are_locked_from_the_start(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv")
    for kind in ("forecasts", "predictions"):
        path = str(tmp_path / f"{kind}.csv")
        lock = Lock(path)
        try:
            said = refused("tournament", file, *FIELD, f"--{kind}", path)
        finally:
            lock.release()
        assert f"{kind}.csv: in use by another run" in said
        assert not os.path.exists(path)
    assert not list(tmp_path.glob(".*"))


def test_forecasts_that_were_replaced_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, table = write_rows(tmp_path / "rows.csv"), tmp_path / "f.csv"

    def replaced(path: str, tables: Any) -> None:
        write(path, tables)
        Path(path).write_text("auto,nlms,sold\n1,2,3\n")

    monkeypatch.setattr("noregret.app.commands.tournament.contest.write", replaced)
    said = refused("tournament", file, *FIELD, "--forecasts", table)
    assert "f.csv: these are not the forecasts of this tournament" in said


def test_a_lock_that_finds_no_room_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors without a file name would be taken for those of standard output."""
    file, usual = write_rows(tmp_path / "rows.csv"), os.write

    def full(descriptor: int, contents: bytes) -> int:
        if contents == f"{os.getpid()}\n".encode():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return usual(descriptor, contents)

    monkeypatch.setattr(os, "write", full)
    said = refused("tournament", file, *FIELD, "--certificate", tmp_path / "c.json")
    assert said == f"noregret: {tmp_path / 'c.json'}: {os.strerror(errno.ENOSPC)}\n"
    assert not list(tmp_path.glob(".*"))


def test_diverging_learners_are_no_alternative(tmp_path: Path) -> None:
    """Where they spoil the average and the median, the others' average is compared too."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, [30, 10], size=(300, 2))
    y = X @ [3, -2] + rng.normal(0, 3, 300)
    rows = [f"{a:.3f},{b:.3f},{c:.3f}" for (a, b), c in zip(X, y, strict=True)]
    file, table, page = (tmp_path / name for name in ("d.csv", "f.csv", "report.html"))
    file.write_text("\n".join(["a,b,y", *rows]))
    rates = ("--target", "y", "--learner", "gradient-descent:rate=0.01,0.1,0.3")
    asked = (*rates, "--learner", "auto", "--forecasts", table)
    text = " ".join(done("tournament", file, *asked, "--report", page).split())
    assert "DID NOT HELP" in text
    assert "auto, the only learner that did not stop" in text
    assert "the best learner in hindsight" not in text
    # The legend of the report has the weights of the table.
    legend = re.findall(r"<span>([^<]*)</span><b>([^<]*)</b>", page.read_text())
    assert {name for name, weight in legend if weight == "100%"} == {"auto"}
    assert {weight for name, weight in legend if "rate=" in name and "%" in weight} == {"0%"}
    found = json.loads(done("tournament", file, *asked, "--learner", "vaw", "--json"))
    said = columns(table)
    errors = (floats(said["auto"]) + floats(said["vaw"])) / 2 - floats(said["y"])
    assert found["steady"]["total"] == pytest.approx(np.sum(errors**2), rel=1e-9)
    text = done("tournament", file, *asked, "--learner", "vaw")
    assert "average of the learners that did not stop" in " ".join(text.split())


def test_absurd_learners_are_no_achievement(tmp_path: Path) -> None:
    """Where the average is absurd, the mixture is compared with the median and the best learner."""
    file, table, proof = (write_rows(tmp_path / "r.csv"), tmp_path / "f.csv", tmp_path / "c.json")
    rates = "gradient-descent:rate=0.01,30,40"
    asked = ("--target", "sold", "--learner", "vaw", "--learner", rates, "--forecasts", table)
    text = " ".join(done("tournament", file, *asked, "--certificate", proof).split())
    found = json.loads(done("tournament", file, *asked, "--json"))
    forecasts = columns(table)
    y = floats(forecasts.pop("sold"))
    X = np.column_stack([floats(each) for each in forecasts.values()])[~np.isnan(y)]
    errors = np.nanmedian(X, axis=1) - y[~np.isnan(y)]
    assert found["median"]["total"] == pytest.approx(np.sum(errors**2), rel=1e-9)
    assert found["average"]["total"] > found["median"]["total"]
    assert "the median" in text or "their median" in text
    assert "than vaw, the best learner in hindsight." in text
    # The certificate is about the forecasts, and the message for other data says so.
    assert "--forecasts wrote" in " ".join(command("verify", proof, file).out.split())
    Path(file).write_text("a,b,sold\n1,2,3\n,,4\n")
    said = refused("verify", proof, file)
    assert "line 3: every expert is asleep" in said
    assert "the certificate is about experts; its data are a table of forecasts" in said
    assert "--forecasts wrote, or ‘noregret tournament … --confirm’" in said


def test_the_report_tells_the_figures_of_every_learner(tmp_path: Path) -> None:
    file, table = write_rows(tmp_path / "rows.csv"), tmp_path / "f.csv"
    page = tmp_path / "report.html"
    said = done("tournament", file, *FIELD, "--forecasts", table, "--report", page, "--json")
    found = json.loads(said)
    forecasts = columns(table)
    y = floats(forecasts["sold"])
    learned = ~np.isnan(y)
    assert found["format"] == "noregret.tournament/1"
    own, *learners = found["learners"]
    assert own["name"] == "mixture"
    assert own["total"] == pytest.approx(found["loss"]["total"])
    assert sorted(one["name"] for one in learners) == NAMES
    for one in learners:
        paid = np.sum((floats(forecasts[one["name"]]) - y)[learned] ** 2)
        assert one["total"] == pytest.approx(paid, rel=1e-9)
        assert one["rounds"] == learned.sum()
    assert learners == sorted(learners, key=lambda one: one["total"])
    assert sum(one["weight"] for one in learners) == pytest.approx(1)
    best = learners[0]["total"]
    assert found["certificate"]["regret"]["upper"] == pytest.approx(own["total"] - best, rel=1e-6)
    assert found["data"]["sources"] == [file]
    text = done("tournament", file, *FIELD, "--no-hindsight")
    assert "RMSE" in text
    assert all(name in text for name in NAMES)
    assert "gradient-descent rate=0.1" in page.read_text()


@pytest.mark.parametrize("rival", ["gradient-descent:rate=0.1", "perceptron"])
def test_two_classes_are_mixed_by_their_chances_or_votes(rival: str, tmp_path: Path) -> None:
    file, table = write_rows(tmp_path / "rows.csv", labels=True), tmp_path / "f.csv"
    model, certificate = tmp_path / "model", tmp_path / "c"
    to = ("--forecasts", table, "--model", model, "--certificate", certificate)
    said = done(
        *("tournament", file, "--learner", "auto", "--learner", rival, "--target", "sold"),
        *(*to, "--json"),
    )
    found, forecasts = json.loads(said), columns(table)
    y = floats(forecasts["sold"])
    learned = ~np.isnan(y)
    for one in found["learners"][1:]:
        right = (floats(forecasts[one["name"]]) > 0.5) == (y > 0.5)
        assert one["accuracy"] == pytest.approx(np.mean(right[learned]))
    done("verify", certificate, table)
    # The model predicts classes by name, in the command and in Python, and learns on.
    predicted = tmp_path / "p.csv"
    done("predict", model, file, "--predictions", predicted)
    got = columns(predicted)
    assert {*got["prediction"]} == {"no", "yes"}
    experts = nr.load(model)
    with open(file, newline="") as rows:
        first = next(csv.DictReader(rows))
    x = {"sun": float(first["sun"]), "wind": float(first["wind"]), "town": first["town"]}
    chance = experts.predict_one(x)
    assert got["prediction"][0] == ("yes" if chance > 0.5 else "no")
    if rival != "perceptron":
        assert float(got["probability"][0]) == chance
    before = experts.rounds
    experts.learn_one(x, "yes")
    assert experts.rounds == before + 1
    assert not experts.retired


def test_the_model_predicts_as_its_parts_do_and_learns_on(tmp_path: Path) -> None:
    file, model = write_rows(tmp_path / "rows.csv"), tmp_path / "model"
    predicted, again = tmp_path / "p.csv", tmp_path / "again"
    done("tournament", file, *FIELD, "--model", model, "--master", "ada-hedge", "--quiet")
    done("predict", model, file, "--predictions", predicted)
    experts = nr.load(model)
    found = floats(columns(predicted)["prediction"])
    with open(file, newline="") as lines:
        rows = [
            {"sun": float(row["sun"]), "wind": float(row["wind"]), "town": row["town"] or None}
            for row in csv.DictReader(lines)
        ]
    assert found.tolist() == [experts.predict_one(row) for row in rows]
    weights, who = experts.weights, experts.members
    mixed = [sum(weights[k] * who[k].who.predict_one(row) for k in weights) for row in rows[:50]]
    assert found[:50] == pytest.approx(mixed, rel=1e-9)
    experts.learn_one(rows[0], 1.0)
    experts.save(again)
    assert nr.load(again).predict_one(rows[0]) == experts.predict_one(rows[0])
    said = refused("run", file, "--continue", model)
    assert "goes on in Python" in said
    several = tmp_path / "several.csv"
    done("predict", model, file, "--predictions", several, "--workers", "2")
    assert several.read_bytes() == predicted.read_bytes()


def test_the_model_of_shards_predicts_files(tmp_path: Path) -> None:
    from noregret.scale import mixture, play

    file, model = write_rows(tmp_path / "rows.csv"), tmp_path / "model"
    options: dict[str, Any] = {"missing": "indicator", "intercept": True}
    game = play(nr.Vaw(), file, "sold", shards=3, pool=Inline(1), **options)
    mixture(game).save(model)
    predicted = tmp_path / "p.csv"
    done("predict", model, file, "--predictions", predicted)
    found = floats(columns(predicted)["prediction"])
    x = {"sun": 0.5, "wind": 0.25, "town=Rome": 1.0, "intercept": 1.0}
    each = [learner.predict_one(x) for learner in game.learners]
    (tmp_path / "one.csv").write_text("sun,wind,town\n0.5,0.25,Rome\n")
    one = tmp_path / "o.csv"
    done("predict", model, tmp_path / "one.csv", "--predictions", one)
    assert float(columns(one)["prediction"][0]) == pytest.approx(np.mean(each), rel=1e-12)
    assert len(found) == len(Path(file).read_text().splitlines()) - 1


# What goes wrong.


def test_a_learner_that_diverges_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv")
    wild = ("--learner", "gradient-descent:rate=1000", "--target", "sold")
    said = done("tournament", file, "--learner", "vaw", *wild, "--no-hindsight")
    assert "stopped" in said
    found = json.loads(done("tournament", file, "--learner", "vaw", *wild, "--json"))
    (stopped,) = [one for one in found["learners"] if one["stopped"]]
    assert stopped["name"] == "gradient-descent"
    assert stopped["weight"] == 0
    assert stopped["stopped"].startswith(f"{file}, line ")
    both = ("--learner", "gradient-descent:rate=900,1000", "--target", "sold")
    assert "every learner has stopped" in refused("tournament", file, *both)


def test_bad_data_are_named(tmp_path: Path) -> None:
    bad = write_rows(tmp_path / "bad.csv", rows=100, bad=60)
    told = ("--categories", "town", "--missing", "zero")
    text = Path(bad).read_text().splitlines()
    text[61] += ",1"
    Path(bad).write_text("\n".join(text))
    said = refused("tournament", bad, *FIELD, *told)
    assert "bad.csv, line 62" in said
    assert "worker of auto" in said
    skip = json.loads(done("tournament", bad, *FIELD, *told, "--on-error", "skip", "--json"))
    assert skip["data"]["skipped"]["count"] == 1
    assert skip["data"]["rows"] == 97
    empty = tmp_path / "empty.csv"
    empty.write_text("a,sold\n")
    assert "empty.csv: there are no examples" in refused("tournament", empty, *FIELD)
    several = tmp_path / "several.csv"
    several.write_text("a,sold\n" + "1,x\n2,y\n3,z\n" * 9)
    two = ("--learner", "auto", "--learner", "gradient-descent", "--target", "sold")
    assert "several classes" in refused("tournament", several, *two)
    said = refused("tournament", write_rows(tmp_path / "labels.csv", labels=True), *FIELD)
    assert "vaw predicts numbers, and the target has two classes" in said
    assert not list(tmp_path.glob(f"{PREFIX}*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "between two learners at least"),
        (("--learner", "auto"), "between two learners at least"),
        (("--learner", "auto", "--learner", "nobody"), "nobody"),
        (("--learner", "vaw:penalty"), "write parameters as in vaw:rate"),
        (("--learner", "vaw:penalty=1:penalty=2"), "given twice"),
        (("--learner", ":a=1"), "name an algorithm"),
        (("--learner", "vaw:penalty=" + ",".join(map(str, range(1, 1_100)))), "more than 1,000"),
        (("--learner", "vaw:penalty=1,2", "--master", "blend:loss=a,b"), "one master mixes"),
        (("--learner", "vaw:penalty=1,2", "--master", "nobody"), "nobody"),
        (("--learner", "vaw:penalty=1,2", "--task", "guess"), "--task"),
        (("--learner", "vaw:penalty=1,2", "--forecasts", "a.txt"), "a .csv or a .parquet"),
        (("--learner", "vaw", "--learner", "auto-classes"), "several classes"),
        (("--learner", "vaw:penalty=1,2", "--work-folder", "."), "--work-folder is for"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv", rows=20)
    assert words in refused("tournament", file, "--target", "sold", *options, code=2)


def test_specifications_are_parsed() -> None:
    assert parsed("vaw") == ("vaw", {})
    assert parsed("a:b=1,x:c-d=true") == ("a", {"b": [1, "x"], "c_d": [True]})
    with pytest.raises(WrongUsage):
        parsed("vaw:penalty=")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_the_command_survives_the_death_of_a_worker(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "rows.csv", rows=2_000)
    paths = [tmp_path / "alone.csv", tmp_path / "killed.csv"]
    done("tournament", file, *FIELD, "--workers", "2", "--forecasts", paths[0], "--quiet")
    words = [sys.executable, "-c", COMMAND, "tournament", file, *FIELD, "--workers", "2"]
    driver = subprocess.Popen(
        [*words, "--forecasts", str(paths[1]), "--quiet"], stderr=subprocess.PIPE
    )
    found = workers_of(driver)
    time.sleep(0.02)
    if len(found) > 1:
        os.kill(found[0], signal.SIGKILL)
    _, said = driver.communicate(timeout=120)
    assert driver.returncode == 0, said.decode()
    assert paths[1].read_bytes() == paths[0].read_bytes()
