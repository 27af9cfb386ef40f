"""A service that is killed at any moment has learned all that it acknowledged, exactly once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import noregret as nr
from noregret.base.model_file import dumps
from noregret.service import Service
from tests.service.offline import offline
from tests.thorough import sized

KILLS = sized(3, full=200)


def test_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    store, told = tmp_path / "s.db", tmp_path / "told"
    draw, late = random.Random(1), 0
    for kill in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.service.served", store, told, str(kill)]
        )
        while not Path(f"{told}.{kill}").exists():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.25))
        process.kill()
        process.wait()
        with Service(None, store, snapshot_every=25) as service:
            events = list(service.journal.learned())
            late += sum(event.delay > 0 for event in events)
            assert dumps(service.learner) == dumps(offline(nr.Auto(), service.journal))
            found = {event.id for event in events}
            assert len(found) == len(events)
            for line in told.read_text().splitlines():
                what, name, *answer = line.split()
                known = service.journal.find(name)
                assert known is not None
                assert what == "predicted" or name in found
                assert not answer or known.prediction == float(answer[0])
    assert len(found) > KILLS
    assert late > KILLS
