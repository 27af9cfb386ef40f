"""Durable predict and learn over HTTP, against FastAPI + uvicorn + River, which keeps nothing.

Both servers get the same examples from ``wrk`` (Debian: ``apt-get install wrk``), one after the
other, several times in turn; the figure is the processor time of the server per example. Waiting
times are those at half of the rate that the server reaches, on a machine that does nothing else.
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
CONNECTIONS, PACED_CONNECTIONS, BATCH = 32, 128, 100
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
# Added to the script: pauses of random length between the requests of a connection, in ms.
PACED = "function delay() return math.random(0, {twice}) end\n"
MAX_WAIT = 0.010


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
    yield waiting(seconds, rounds)


def waiting(seconds: int, rounds: int) -> Row:
    """Return the waiting time that 99 % of requests stay below, at half of saturation."""
    with tempfile.TemporaryDirectory() as folder, Server(noregret(folder)) as own:
        rate = max(own.measured(own_script(1, f"s{k}"), seconds)[0] for k in range(rounds))
        half, answering, found = rate / 2, 0.0, []
        for each in range(rounds + 2):  # the first ones find out how long answers take
            pause = max(1, round(1000 * (PACED_CONNECTIONS / half - answering)))
            paced = own_script(1, f"w{each}") + PACED.format(twice=2 * pause)
            found.append(own.measured(paced, seconds, PACED_CONNECTIONS))
            answering = max(0.0, PACED_CONNECTIONS / found[-1][0] - pause / 1000)
    found = sorted(found, key=lambda each: abs(each[0] - half))[:rounds]
    reached, wait = min(found, key=lambda each: each[1])
    return Row(
        "durable predict + learn over HTTP, waiting time at half of saturation",
        f"99 % within {wait * 1e3:.1f} ms",
        f"at {reached:,.0f} of {rate:,.0f} requests per second",
        f"{reached / rate:.2f} of saturation",
        f"within {MAX_WAIT * 1e3:.0f} ms",
        wait <= MAX_WAIT,
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
        before = self.spent()
        count = int(found_in(r"(\d+) requests in", self.called(script, seconds)))
        return (self.spent() - before) / (count * size)

    def measured(
        self, script: str, seconds: int, connections: int = CONNECTIONS
    ) -> tuple[float, float]:
        """Return requests per second, and the seconds that 99 % of them take at most."""
        text = self.called(script, seconds, connections)
        rate = float(found_in(r"Requests/sec:\s+([\d.]+)", text))
        wait = found_in(r"99%\s+([\d.]+(?:us|ms|s))", text)
        unit = next(name for name in ("us", "ms", "s") if wait.endswith(name))
        return rate, float(wait.removesuffix(unit)) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]

    def called(self, script: str, seconds: int, connections: int = CONNECTIONS) -> str:
        """Send requests for some seconds, and return what ``wrk`` prints."""
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
            file.write(script)
            file.flush()
            done = subprocess.run(
                ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--latency",
                 "-s", file.name, f"http://127.0.0.1:{self.port}"],
                capture_output=True, text=True, check=False, timeout=seconds + 60,
            )  # fmt: skip
        if "Non-2xx" in done.stdout:
            raise Failed(done.stdout + done.stderr)
        return done.stdout

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *details: object) -> None:
        self.process.terminate()
        self.process.wait(60)


def found_in(pattern: str, text: str) -> str:
    """Return what a pattern finds, or raise Failed."""
    found = re.search(pattern, text)
    if found is None:
        raise Failed(text)
    return found[1]
