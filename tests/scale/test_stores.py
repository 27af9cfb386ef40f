"""Files in S3, read from a real server on this machine, by commands in processes of their own."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from noregret.errors import WrongUsage
from noregret.streams.addresses import check_known
from noregret.streams.remote_files import parts_of
from tests.scale.test_groups_on_workers import table, write_csv
from tests.thorough import THOROUGH

COMMAND = "from noregret.app.cli import script; script()"
SECRET = "not-to-be-shown"
SECONDS = 60


class Store:
    """A server with one bucket."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.known = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "known",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def put(self, path: str, data: bytes) -> None:
        request = urllib.request.Request(f"{self.url}/{path}", data or None, method="PUT")
        request.add_header("Content-Type", "application/octet-stream")
        urllib.request.urlopen(request, timeout=5).close()

    def run(self, *words: object, code: str = COMMAND, **changes: str) -> Any:
        """Run a command, and return the finished process; it must not show the secret."""
        given = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        given |= {k: v for k, v in (self.known | changes).items() if v}
        made = [sys.executable, "-c", code, *map(str, words)]
        root = str(Path(__file__).parent.parent.parent)
        done = subprocess.run(
            made, capture_output=True, text=True, timeout=SECONDS, env=given, cwd=root, check=False
        )
        assert SECRET not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Start moto's server, with the same rows in several formats."""
    pytest.importorskip("moto", reason="moto, whose server stands in for S3, is not installed")
    pytest.importorskip("flask", reason="moto's server needs moto[server], which is not installed")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    try:
        made, until = Store(port), time.monotonic() + SECONDS
        while True:
            try:
                made.put("data", b"")
                break
            except OSError:
                assert server.poll() is None, "moto's server has ended"
                assert time.monotonic() < until, "moto's server does not answer"
                time.sleep(0.1)
        yield made
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def rows(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write rows here and there, and return the folder."""
    folder, found = tmp_path_factory.mktemp("rows"), table(1_500)
    write_csv(found, folder / "rows.csv")
    write_csv(found.slice(0, 700), folder / "part-0.csv")
    write_csv(found.slice(700), folder / "part-1.csv")
    parquet.write_table(found, folder / "rows.parquet", row_group_size=400)
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes()))
    for path in folder.iterdir():
        store.put(f"data/in/{path.name}", path.read_bytes())
    return folder


ASKED = ["--target", "sold", "--learner", "widrow-hoff", "-p", "rate=0.0001", "--quiet"]


FORMS = ["rows.parquet", "part-*.csv", "rows.csv", "rows.csv.gz"]


@pytest.mark.parametrize("name", FORMS if THOROUGH else FORMS[:2])
def test_run_on_a_store_is_run_on_local_files(
    name: str, store: Store, rows: Path, tmp_path: Path
) -> None:
    found = []
    for place in (f"{rows}/{name}", f"s3://data/in/{name}"):
        to = tmp_path / "certificate.json"
        done = store.run("run", place, *ASKED, "--certificate", to)
        assert done.returncode == 0, done.stderr
        found.append(to.read_text())
    assert found[0] == found[1]
    done = store.run("verify", to, f"s3://data/in/{name}")
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"] if THOROUGH else ["rows.csv"])
def test_workers_read_their_parts_of_a_store(
    name: str, store: Store, rows: Path, tmp_path: Path
) -> None:
    found = []
    for place, options in ((rows / name, ()), (f"s3://data/in/{name}", ("--workers", 2))):
        to = ["--predictions", tmp_path / "p.csv", "--model", tmp_path / "m.models"]
        done = store.run("run", place, *ASKED, "--group", "shop", *options, *to)
        assert done.returncode == 0, done.stderr
        found.append((tmp_path / "p.csv").read_text())
    assert found[0] == found[1]
    model = tmp_path / "m.model"
    assert store.run("run", rows / name, *ASKED, "--model", model).returncode == 0
    found = []
    for place, options in ((rows / name, ()), (f"s3://data/in/{name}", ("--workers", 2))):
        done = store.run("predict", model, place, *options)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    assert found[0] == found[1]


FITTED = """
import json, sys
from noregret.batch import Ridge
from noregret.hindsight import best_in_ball
from noregret.scale import Processes, fit, rows
if __name__ == "__main__":
    found = []
    with Processes(2) as pool:
        for place in sys.argv[1:]:
            options = {"drop": ["shop"], "missing": "indicator"}
            method = fit(Ridge(), place, "sold", pool=pool, **options)
            with rows(place, "sold", pool=pool, **options) as held:
                answer = best_in_ball(held, "absolute", 2.0)
            found.append([method.certificate().to_json(), answer.loss, answer.lower])
    print(json.dumps(found))
"""


def test_python_fits_files_of_a_store(store: Store, rows: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(FITTED)
    code = "import sys, runpy; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], {}, '__main__')"
    places = [rows / "rows.parquet", "s3://data/in/rows.parquet", "s3://data/in/rows.csv"]
    done = store.run(script, *places, code=code)
    assert done.returncode == 0, done.stderr
    here, there, text = json.loads(done.stdout)
    assert here == there
    assert text[1:] == here[1:]


def test_what_is_wrong_is_named_with_its_cure(store: Store, rows: Path) -> None:
    assert rows
    for place, words in (
        ("s3://data/in/none.csv", "no such file"),
        ("s3://other/rows.csv", "no such file"),
        ("s3://data/in/none-*.csv", "no file matches"),
        ("s3://data", "not the address of a file"),
        (f"s3://known:{SECRET}@data/in/rows.csv", "credentials"),
        ("s3://data/in/rows.csv?secret=1", "unknown settings"),
    ):
        done = store.run("run", place, *ASKED)
        assert done.returncode in (1, 2), done.stdout
        assert words in done.stderr, (place, done.stderr)
    ask = urllib.request.Request(f"{store.url}/moto-api/reset-auth", b"0", method="POST")
    ask.add_header("Content-Type", "text/plain")
    urllib.request.urlopen(ask, timeout=SECONDS).close()
    for gone in ((), ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")):
        done = store.run("run", "s3://data/in/rows.csv", *ASKED, **dict.fromkeys(gone, ""))
        assert done.returncode == 1
        assert "access is denied" in done.stderr
        assert "AWS_ACCESS_KEY_ID" in done.stderr
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        done = store.run("run", "s3://data/in/rows.csv", *ASKED, AWS_ENDPOINT_URL=url)
    assert done.returncode == 1
    assert "it cannot be read" in done.stderr


def test_addresses_are_taken_apart() -> None:
    found = parts_of("gs://bucket/a b/c%20.csv?anonymous=true")
    assert (found.scheme, found.path) == ("gs", "bucket/a b/c%20.csv")
    assert parts_of("hdfs://name:8020/a.csv")[:3] == ("hdfs", "name:8020", "/a.csv")
    assert parts_of("hdfs:///a.csv").host == ""
    for wrong in ("s3://bucket", "s3:///a.csv", "gs://key:word@bucket/a.csv"):
        with pytest.raises(WrongUsage) as error:
            parts_of(wrong)
        assert "word" not in str(error.value)
    with pytest.raises(WrongUsage, match="cannot be read from ftp"):
        check_known("ftp://host/a.csv")
