"""A real server in another process, and its clients."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any


class Server:
    """``noregret serve`` on a free port of this machine."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = "import sys; from noregret.app.cli import main; sys.exit(main())"
        self.process = subprocess.Popen(
            [sys.executable, "-c", command, "serve", "--port", "0", *arguments],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.said = ""
        for line in self.process.stderr:
            self.said += line
            if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                return
        raise AssertionError(self.said)

    def call(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers of the answer to a request."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            client.request(method, path, body, named)
            answer = client.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, answer.read(), found
        finally:
            client.close()

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        """Return status and JSON of the answer to a request with a JSON body."""
        sent = json.dumps(body).encode()
        status, text, _ = self.call("POST", path, sent, Content_Type="application/json", **headers)
        return status, json.loads(text)

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        """Return status and JSON of what is at a path."""
        status, text, _ = self.call("GET", path, b"", **headers)
        return status, json.loads(text)

    def kill(self) -> None:
        """End it without any warning."""
        self.end(signal.SIGKILL)

    def end(self, how: int = signal.SIGTERM) -> int:
        """End it by a signal, and return its exit code."""
        self.process.send_signal(how)
        try:
            return self.process.wait(60)
        finally:
            assert self.process.stderr is not None
            self.process.stderr.close()
