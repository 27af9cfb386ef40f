"""A headless Chromium, spoken to over a pipe: enough of the DevTools protocol to look at a page."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = f"to run it, install Chromium: none of {', '.join(NAMES)} is on the PATH"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-pipe",
)
# Chromium reads from 3 and writes to 4, whatever the pipes are here.
START = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4);" + (
    "os.execv(sys.argv[3], sys.argv[3:])"
)
PATIENCE = 30.0


def found() -> str | None:
    """Return the path of a Chromium, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser, and all that it complained about."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._rest = read, write, b""
        self._last, self._session = 0, None
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = session["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "result" in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self._read, 1 << 16) if ready else b""
            assert more, "Chromium said nothing"
            self._rest += more
        first, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(first)
        return answer

    def show(self, page: Path | str, width: int, theme: str) -> None:
        """Load a file or an address, at a width, for someone who prefers a theme."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        prefers = [{"name": "prefers-color-scheme", "value": theme}]
        self.ask("Emulation.setEmulatedMedia", media="screen", features=prefers)
        self.events.clear()
        self.ask("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        while not self.heard("Page.loadEventFired"):
            self.events.append(self._next())

    def heard(self, method: str) -> list[dict[str, Any]]:
        """Return what was reported under a name."""
        return [event["params"] for event in self.events if event.get("method") == method]

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    program = found()
    assert program is not None
    pipes = [*os.pipe(), *os.pipe()]
    theirs_in, ours_out, ours_in, theirs_out = (fcntl.fcntl(p, fcntl.F_DUPFD, 10) for p in pipes)
    for pipe in pipes:
        os.close(pipe)
    command = [sys.executable, "-c", START, str(theirs_in), str(theirs_out), program, *FLAGS]
    process = subprocess.Popen(
        [*command, f"--user-data-dir={folder}"],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        started = Browser(ours_in, ours_out)
        yield started
        started._session = None
        started.ask("Browser.close")
    finally:
        os.close(ours_in)
        os.close(ours_out)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
