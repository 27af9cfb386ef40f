"""A server under steady load for long: predictions, late labels, and dashboards that hardly read.

``wrk`` (Debian: ``apt-get install wrk``) first finds how many requests a second the server answers
at most, and then sends half as many: each example is predicted, and labelled some thousand requests
later, one in a thousand never. Meanwhile dashboards are open that read slowly or not at all. The
figures are the memory of the server, the longest time without a label learned, and the latency.
Memory grows with the predictions that wait for a label, about 1 KB each, up to 65,536 of them, and
by 2 to 10 bytes per prediction, in steps: the Bloom filter of ids gets another layer.

``python -m benchmarks.soak 60`` runs for an hour, and prints a line per minute.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._harness import Failed, Row, skipped
from benchmarks.serve import Server, noregret

PACKAGES = ("starlette", "uvicorn", "msgspec")
CONNECTIONS, SILENT, SLOW = 64, 5, 5
# Predictions between one and its label, about; labels come in another order.
LAG = 2000
# Seconds between two looks at the server, and the memory that it may gain: megabytes.
PERIOD, MAX_GROWTH = 0.25, 8.0
# Seconds after which a request counts as an error; stalls are a figure of their own.
PATIENCE = 30
SCRIPT = """
local predicted, labelled, calls = 0, 0, 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
function init() NAME = "{name}-" .. tostring({{}}):sub(8); math.randomseed(1) end
function delay() return {delay} end
function request()
  calls = calls + 1
  if calls % 2 == 0 and labelled + {lag} < predicted then
    labelled = labelled + 1
    local late = labelled - labelled % 1000 + labelled * 7 % 1000
    if labelled % 1000 ~= 0 and late > 1 then  -- wrk does not send the first request
      return wrk.format(nil, "/models/default/label", nil,
        string.format('{{"id": "%s-%d", "y": %.3f}}', NAME, late, math.random()))
    end
  end
  predicted = predicted + 1
  return wrk.format(nil, "/models/default/predict", nil, string.format(
    '{{"id": "%s-%d", "x": {{"a": %.3f, "b": %.3f, "c": 1, "d": %.3f, "e": %.3f}}}}', NAME,
    predicted, math.random(), math.random(), math.random(), math.random()))
end
"""


def run(quick: bool) -> Iterator[Row]:
    if shutil.which("wrk") is None:
        yield skipped("steady load", "wrk is not installed")
        return
    found = soak(0.1 if quick else 1.0, tell=lambda line: None)
    yield Row(
        f"{found['minutes']:.3g} min at half of saturation, {found['rate']:,.0f} requests/s",
        f"{found['growth']:+.1f} MB in the second half; p99 {found['p99']:.1f} ms",
        f"longest time without a label {found['stall'] * 1e3:.0f} ms",
        f"{found['errors']} errors",
        f"no error, at most {MAX_GROWTH:g} MB",
        found["errors"] == 0 and found["growth"] <= MAX_GROWTH,
    )


def soak(minutes: float, tell: Any = print, learner: str = "auto") -> dict[str, Any]:
    """Run the server for some minutes, and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        command = noregret(folder)
        command[command.index("--learner") + 1] = learner
        with Server(command) as server, dashboards(server.port):
            most, _, _ = load(server.port, "warm", 0.0, 3.0 if minutes < 1 else 10.0)
            tell(f"saturation: {most:,.0f} requests/s; memory {memory(server):.1f} MB")
            delay = CONNECTIONS / most * 1000  # an answer takes the same time, or less
            looks, stop = Looks(server, tell), threading.Event()
            thread = threading.Thread(target=looks.run, args=[stop])
            thread.start()
            try:
                before = server.spent()
                rate, p99, errors = load(server.port, "soak", delay, 60 * minutes)
                busy = (server.spent() - before) / (60 * minutes)
            finally:
                stop.set()
                thread.join()
            facts = looks.facts()
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
    half = len(looks.memory) // 2
    return {
        "minutes": minutes, "saturation": most, "rate": rate, "busy": busy, "p99": p99,
        "errors": errors, "labels": facts["rounds"], "pending": facts["pending"],
        "growth": statistics.median(looks.memory[-max(1, half // 5) :])
        - statistics.median(looks.memory[half : half + max(1, half // 5)]),
        "memory": looks.memory[-1], "stall": looks.stall, "store": size / 1e6,
    }  # fmt: skip


class Looks:
    """What is seen of a server from outside, several times a second."""

    def __init__(self, server: Server, tell: Any) -> None:
        self.server, self.tell = server, tell
        self.memory: list[float] = []
        self.stall = 0.0  # the longest time without a label learned

    def run(self, stop: threading.Event) -> None:
        """Look until the end."""
        rounds, since, told = -1, time.monotonic(), time.monotonic()
        while not stop.wait(PERIOD):
            now, facts = time.monotonic(), self.facts()
            self.memory.append(memory(self.server))
            self.stall = max(self.stall, now - since)
            if facts["rounds"] != rounds:
                rounds, since = facts["rounds"], now
            if now - told >= 60:
                told = now
                figures = f"{self.memory[-1]:.1f} MB; longest stall {self.stall:.2f} s"
                self.tell(f"{rounds:,} labels, {facts['pending']:,} wait; {figures}")

    def facts(self) -> Any:
        """Return what the server tells of its model."""
        client = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        with contextlib.closing(client):
            client.request("GET", "/models/default")
            return json.loads(client.getresponse().read())


def memory(server: Server) -> float:
    """Return the resident memory of a server in megabytes."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1000


@contextlib.contextmanager
def dashboards(port: int) -> Iterator[None]:
    """Open dashboards that never read, and some that read a few bytes a second."""
    ended, readers = threading.Event(), []
    for _ in range(SILENT + SLOW):
        reader = socket.create_connection(("127.0.0.1", port))
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.sendall(b"GET /models/default/watch HTTP/1.1\r\nHost: x\r\n\r\n")
        readers.append(reader)

    def crawl() -> None:
        while not ended.wait(1.0):
            for reader in readers[SILENT:]:
                reader.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    reader.recv(64)

    thread = threading.Thread(target=crawl)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for reader in readers:
            reader.close()


def load(port: int, name: str, delay: float, seconds: float) -> tuple[float, float, int]:
    """Send requests; return how many a second, the 99th percentile in ms, and the errors."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        script = SCRIPT.format(name=name, delay=f"{delay:.3f}", lag=LAG)
        # Without the function, wrk does not wait at all.
        file.write(script if delay else re.sub(r"function delay.*\n", "", script))
        file.flush()
        done = subprocess.run(
            ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{seconds:.0f}s", "--latency",
             "--timeout", f"{PATIENCE}s", "-s", file.name, f"http://127.0.0.1:{port}"],
            capture_output=True, text=True, check=False, timeout=seconds + 120,
        )  # fmt: skip
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    p99 = re.search(r"99%\s+([\d.]+)(us|ms|s)", done.stdout)
    if rate is None or p99 is None:
        raise Failed(done.stdout + done.stderr)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    broken = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", done.stdout)
    errors = int(refused[1]) if refused else 0
    errors += sum(map(int, broken.groups())) if broken else 0
    unit = {"us": 1e-3, "ms": 1.0, "s": 1e3}[p99[2]]
    return float(rate[1]), float(p99[1]) * unit, errors


if __name__ == "__main__":
    figures = soak(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0,
                   tell=lambda line: print(line, flush=True))  # fmt: skip
    print(json.dumps(figures, indent=1))
