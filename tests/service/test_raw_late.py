"""Raw rows whose labels come late: certificates of what was served are confirmed by its rows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.errors import CertificateError
from noregret.service import Service
from noregret.streams import prepared
from tests.app.serve.running import Server
from tests.thorough import paired, sized

LEARNERS = {"auto": nr.Auto, "nlms": nr.Nlms}
LATE = [0, 3, None]  # None is at random
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "many": {"text": "remark", "categories": "zip", "dates": "mdy", "intercept": True},
    "drop": {"drop": "town", "missing": "zero"},
    "hash": {"hash": 6, "interactions": "town*size"},
}


def rows_of(count: int, seed: int, dates: str | None = None) -> list[dict[str, Any]]:
    """Return rows with dates, categories, free text, gaps, booleans, and objects in them."""
    draw, rows = random.Random(seed), list[dict[str, Any]]()
    for k in range(count):
        month, day = draw.randint(1, 12), draw.randint(1, 28)
        row: dict[str, Any] = {
            "due": f"{month:02}/{day:02}/2024" if dates else f"2024-{month:02}-{day:02}",
            "town": draw.choice(["Oslo", "Rome", "Rio de Janeiro", ""]),
            "remark": draw.choice(["warm, not late", "late", "cold and late", None]),
            "size": draw.choice([None, draw.random(), 3]),
            "open": draw.random() < 0.5,
            "zip": draw.choice([50001, 50002]),
            "weather": {"wind": draw.choice([0.5, 4.7]), "sky": draw.choice(["grey", "blue"])},
        }
        if k % 5 < 2:  # the first rows, too
            del row["due"], row["weather"]
        rows.append(row)
    return rows


def orders(count: int, late: int | None, draw: random.Random) -> Iterator[tuple[str, int]]:
    """Yield the rows to predict and to label in the order of time; a few labels never come."""
    waiting: list[int] = []
    for k in range(count):
        yield "predict", k
        waiting.append(k)
        while waiting and (draw.random() < 0.5 if late is None else len(waiting) > late):
            yield "label", waiting.pop(draw.randrange(len(waiting)) if late is None else 0)


def changed(lines: list[str], at: str) -> list[str]:
    """Return lines with another value in a cell of the row in the middle that has this one."""
    places = [k for k, line in enumerate(lines) if at in json.loads(line)]
    row = json.loads(lines[places[len(places) // 2]])
    row[at] = row[at] | {"wind": 4.6} if isinstance(row[at], dict) else not row[at]
    lines = list(lines)
    lines[places[len(places) // 2]] = json.dumps(row)
    return lines


def check(certificate: Any, rows: str, target: str, path: Path) -> None:
    """Verify a certificate, and refute it with a changed cell."""
    path.write_text(rows)
    assert nr.verify(certificate, path, target=target).confirmed
    for at in ("open", "weather"):
        path.write_text("\n".join(changed(rows.splitlines(), at)) + "\n")
        assert not nr.verify(certificate, path, target=target).confirmed


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize(("given", "learner"), paired(OPTIONS, [*LEARNERS]))
def test_services_are_confirmed(given: str, learner: str, late: int | None, tmp_path: Path) -> None:
    """Also after a crash."""
    draw, options = random.Random(f"{given} {learner} {late}"), OPTIONS[given]
    rows = rows_of(sized(25, full=1000), draw.randrange(99), options.get("dates"))
    service = Service(prepared(LEARNERS[learner](), **options), tmp_path / "s.db")
    for k, (what, row) in enumerate(orders(len(rows), late, draw)):
        if k == len(rows):
            service.journal.close()  # as a crash would
            service = Service(None, tmp_path / "s.db")
        if what == "predict":
            service.predict(rows[row], id=f"r{row}")
        else:
            service.label(f"r{row}", round(draw.random(), 3))
    with service:
        certificate = service.certificate()
        assert certificate.loss.total == pytest.approx(service.metrics()["loss"], rel=1e-9)
        assert ("raw-rows" in certificate.data.transforms) == (late != 0 or given == "hash")
        check(certificate, b"".join(service.exported()).decode(), "y", tmp_path / "rows.jsonl")


@pytest.mark.parametrize("learner", LEARNERS)
def test_servers_are_confirmed(learner: str, tmp_path: Path) -> None:
    """With one model per key, whose labels come at once, 3 rows late, and at random."""
    draw, count = random.Random(learner), sized(30, full=500)
    arguments = ("--learner", learner, "--store", "s.db", "--text", "remark", "--target", "sold")
    server = Server(tmp_path, *arguments)
    steps = []
    for late in LATE:
        rows = rows_of(count, draw.randrange(99))
        steps.append([(f"{late}", *each, rows[each[1]]) for each in orders(count, late, draw)])
    while any(steps):
        key, what, k, row = draw.choice([each for each in steps if each]).pop(0)
        body: dict[str, Any] = {"id": f"{key}-{k}"}
        body |= {"key": key, "x": row} if what == "predict" else {"y": round(draw.random(), 3)}
        assert server.post(f"/models/default/{what}", body)[0] == 200
    found = [
        (
            server.get(f"/models/default/certificate?key={late}")[1],
            server.call("GET", f"/models/default/rows?key={late}")[1],
        )
        for late in LATE
    ]
    for what in ("certificate", "rows"):
        status, told = server.get(f"/models/default/{what}")
        assert status == 409
        assert "the labels are under 3 keys" in told["detail"]
        assert "?key=" in told["detail"]
    assert server.end() == 0
    for certificate, lines in found:
        check(certificate, lines.decode(), "sold", tmp_path / "rows.jsonl")


def test_options_that_are_not_about_values_are_refused(tmp_path: Path) -> None:
    with Service(prepared(nr.Nlms()), tmp_path / "s.db") as service:
        for k in range(9):
            service.predict({"a": k % 3}, id=str(k))
            if k:
                service.label(str(k - 1), 1.0)
        contents = service.certificate().to_dict()
        service.export(tmp_path / "rows.jsonl")
    for odd in ("fourier=300", "group=a", "hash=x", "missing=often", "nothing"):
        contents["data"]["transforms"][0] = odd
        with pytest.raises(CertificateError, match="transforms"):
            nr.verify(contents, tmp_path / "rows.jsonl")


def test_labels_of_other_names_are_charged_as_such(tmp_path: Path) -> None:
    """The loss of late labels 1 and 2, of which 2 is positive."""
    learner = prepared(nr.Logistic(), positive="2", negative="1")
    plain, losses = nr.Logistic(), []
    with Service(learner, tmp_path / "s.db") as service, Service(plain, tmp_path / "p.db") as other:
        for k in range(40):
            for each in (service, other):
                each.predict({"a": k % 3 - 1.0, "b": 1.0}, id=str(k))
            if k >= 2:
                high = (k * 7) % 5 > 2
                service.label(str(k - 2), 2 if high else 1)
                other.label(str(k - 2), 1 if high else -1)
        losses = [each.metrics()["loss"] for each in (service, other)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-12)
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl")
    assert certificate.loss.mistakes is not None
    assert nr.verify(certificate, tmp_path / "rows.jsonl").confirmed
