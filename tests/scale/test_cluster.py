"""A model per group on a Ray cluster of three nodes, one of which is lost on the way."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noregret import Vaw, verify
from noregret.batch import Ridge
from noregret.errors import WrongUsage
from noregret.hindsight import best_in_ball
from noregret.scale import RayCluster, fit, grid, play, tournament
from noregret.scale import verify as verify_on
from noregret.scale.ray_cluster import check_answers
from noregret.scale.spread_rows import SpreadRows
from noregret.scale.survey import surveyed
from tests.scale.inline import Inline
from tests.scale.test_fitting import read
from tests.scale.test_groups_on_workers import run, table, write_csv
from tests.thorough import THOROUGH

ray: Any = pytest.importorskip("ray", reason="Ray is not installed")


def test_an_address_at_which_nothing_answers_is_refused_at_once() -> None:
    began = time.monotonic()
    with socket.socket() as closed:  # bound, but nothing listens
        closed.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{closed.getsockname()[1]}"
        for address in (place, f"ray://{place}"):
            with pytest.raises(WrongUsage, match="no Ray cluster answers at"):
                check_answers(address)
    for other in ("local", "auto", "", "host", "host:name"):
        check_answers(other)
    assert time.monotonic() - began < 30


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Start three nodes on this machine, and connect to them."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    root = str(Path(__file__).parent.parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    found: Any = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    for _ in range(2):
        found.add_node(num_cpus=1)
    ray.init(found.address, log_to_driver=False, logging_level="error")
    try:
        yield found
    finally:
        ray.shutdown()
        found.shutdown()


def test_a_cluster_makes_the_same_bits_though_a_node_is_lost(cluster: Any, tmp_path: Path) -> None:
    files = [write_csv(table(), tmp_path / "rows.csv")]
    alone = run(tmp_path, files, "alone")
    node = next(iter(cluster.worker_nodes))

    def lose() -> None:
        time.sleep(2.0)
        cluster.remove_node(node, allow_graceful=False)

    loser = threading.Thread(target=lose)
    loser.start()
    for attempt in range(3 if THOROUGH else 1):
        several = run(tmp_path, files, f"several {attempt}", "--cluster", "auto")
        assert several == alone
    loser.join()
    stream = read(files)
    near = SpreadRows(surveyed(stream, Inline(1)), Inline(1), 200)
    with RayCluster("auto") as pool:
        there = fit(Ridge(), stream, pool=pool)
        with SpreadRows(surveyed(stream, pool), pool, 200) as far:
            found, same = (best_in_ball(each, "absolute", 3.0) for each in (far, near))
        contest = tournament(grid("vaw", penalty=[0.1, 1, 10]), stream, pool=pool)
        shards = play(Vaw(), stream, shards=3, pool=pool).certificate()
        for certificate in (there.certificate(), shards):
            assert verify_on(certificate, stream.paths, pool=pool).confirmed
    near.close()
    assert verify(shards, stream.paths).confirmed
    assert found.witness.tobytes() == same.witness.tobytes()
    assert (found.loss, found.lower) == (same.loss, same.lower)
    assert (
        there.certificate().to_json()
        == fit(Ridge(), stream, pool=Inline(1)).certificate().to_json()
    )
    here = tournament(grid("vaw", penalty=[0.1, 1, 10]), stream, pool=Inline(1))
    assert contest.certificate().to_json() == here.certificate().to_json()
    assert contest.advice.equals(here.advice)
