"""A PostgreSQL server of its own, on a free port of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, if it is installed."""
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)]
    if (path := shutil.which("initdb")) is not None:
        found.append(Path(path))
    return found[0].resolve().parent if found else None


def missing() -> str | None:
    """Return why no server can be started, or None."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed: pip install psycopg[binary]"
    if programs() is None:
        return "PostgreSQL is not installed: apt-get install postgresql"
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL does not run as root, and there is no runuser"
    return None


class PostgresServer:
    """A server with an empty database."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="noregret-postgres-")
        self.user = "postgres"
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", f"{self.folder}/data", "-A", "trust", "-U", self.user, "-N")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def command(self, name: str, *arguments: str) -> list[str]:
        folder = programs()
        assert folder is not None
        prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        return [*prefix, str(folder / name), *arguments]

    def run(self, name: str, *arguments: str) -> None:
        subprocess.run(
            self.command(name, *arguments), check=True, cwd="/", timeout=120,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c shared_buffers=16MB"
        for left in range(20, -1, -1):  # memory of one that was killed may be in use for a moment
            try:
                self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-o", options,
                         "-l", f"{self.folder}/log", "start")  # fmt: skip
                return
            except subprocess.CalledProcessError:
                if not left:
                    raise
                time.sleep(0.25)

    def kill(self) -> None:
        """End it without any warning."""
        pid = int(Path(self.folder, "data", "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children")
        family = [pid, *(map(int, children.read_text().split()) if children.exists() else [])]
        for each in family:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for _ in range(500):
            if not any(Path(f"/proc/{each}").exists() and alive(each) for each in family):
                break
            time.sleep(0.01)

    def address(self, schema: str) -> str:
        return f"postgresql://{self.user}@127.0.0.1:{self.port}/postgres#{schema}"

    def close(self) -> None:
        with suppress(subprocess.CalledProcessError):  # if it does not run any more
            self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def alive(pid: int) -> bool:
    """Return whether a process runs, and is not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def started() -> PostgresServer:
    """Return a server, or skip the test and say why."""
    if (why := missing()) is not None:
        pytest.skip(why)
    return PostgresServer()
