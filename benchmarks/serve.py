"""Durable predict and learn over HTTP, against FastAPI + uvicorn + River, which keeps nothing.

Both servers get the same examples from ``wrk`` (Debian: ``apt-get install wrk``), one after the
other, several times in turn; the figure is the processor time of the server per example.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks._harness import Failed, Row, skipped

PACKAGES = ("fastapi", "river", "starlette", "uvicorn", "msgspec")
CONNECTIONS, BATCH = 32, 100
SCRIPT = """
local count, body = 0, {body}
wrk.method = "POST"
wrk.headers["Content-Type"] = "{kind}"
local function example()
  count = count + 1
  return string.format('{{"id": "%s-%d", "x": {{"a": %.3f, "b": %.3f, "c": 1, "d": %.3f, "e": 0.5,'
    .. ' "f": %.3f, "g": 0.1, "h": 2, "i": %.3f, "j": 1}}, "y": %.3f}}', NAME, count,
    math.random(), math.random(), math.random(), math.random(), math.random(), math.random())
end
function init() NAME = "{name}-" .. tostring({{}}):sub(8); math.randomseed(1) end
function request()
  local lines = {{}}
  for k = 1, {size} do lines[k] = example() end
  return wrk.format(nil, "{path}", nil, "{before}" .. table.concat(lines, "{between}") .. "{after}")
end
"""


def run(quick: bool) -> Iterator[Row]:
    if shutil.which("wrk") is None:
        yield skipped("durable predict + learn over HTTP", "wrk is not installed")
        return
    seconds, rounds = (2, 1) if quick else (4, 4)
    for words, size, share in (("one per request", 1, 3), (f"batches of {BATCH}", BATCH, 8)):
        ours, peer = 1e9, 1e9
        with (
            tempfile.TemporaryDirectory() as folder,
            Server(noregret(folder)) as own,
            Server(fastapi()) as other,
        ):
            for each in range(rounds):
                peer = min(peer, other.cost(peer_script(size, f"p{each}"), seconds, size))
                ours = min(ours, own.cost(own_script(size, f"n{each}"), seconds, size))
        yield Row(
            f"durable predict + learn over HTTP, {words}",
            f"{ours * 1e6:.0f} µs of processor time per example",
            f"FastAPI + River, not durable: {peer * 1e6:.0f} µs",
            f"{ours / peer:.2f} of the time",
            f"at most 1/{share}",
            ours <= peer / share,
        )


def own_script(size: int, name: str) -> str:
    kind = "application/json" if size == 1 else "application/x-ndjson"
    return SCRIPT.format(
        kind=kind, name=name, size=size, path="/models/default/learn", body="nil", before="",
        between="\\n", after="",
    )  # fmt: skip


def peer_script(size: int, name: str) -> str:
    alone = size == 1
    return SCRIPT.format(
        kind="application/json", name=name, size=size, path="/learn" if alone else "/many",
        body="nil", before="" if alone else "[", between=",", after="" if alone else "]",
    )  # fmt: skip


def noregret(folder: str) -> list[str]:
    command = "import sys; from noregret.app.cli import main; sys.exit(main())"
    store = str(Path(folder, "bench.db"))
    return [sys.executable, "-c", command, "serve", "--learner", "nlms", "--store", store, "--port"]


def fastapi() -> list[str]:
    return [sys.executable, "-m", "uvicorn", "benchmarks._serve_peer:app", "--log-level", "warning",
            "--no-access-log", "--port"]  # fmt: skip


class Server:
    """A server in a process of its own, on a free port."""

    def __init__(self, command: list[str]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [*command, str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise Failed("the server does not start")

    def spent(self) -> float:
        """Return the processor time so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cost(self, script: str, seconds: int, size: int) -> float:
        """Return the processor time per example."""
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
            file.write(script)
            file.flush()
            before = self.spent()
            done = subprocess.run(
                ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{seconds}s", "-s", file.name,
                 f"http://127.0.0.1:{self.port}"],
                capture_output=True, text=True, check=False, timeout=seconds + 60,
            )  # fmt: skip
            spent = self.spent() - before
        found = re.search(r"(\d+) requests in", done.stdout)
        if found is None or not int(found[1]) or "Non-2xx" in done.stdout:
            raise Failed(done.stdout + done.stderr)
        return spent / (int(found[1]) * size)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *details: object) -> None:
        self.process.terminate()
        self.process.wait(60)
