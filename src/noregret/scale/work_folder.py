"""Folders for the intermediate files of a job."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from noregret.base.atomic_files import new_hash
from noregret.base.locks import Lock
from noregret.errors import NoRegretError

# How the names of these folders begin.
PREFIX = "noregret-work-"


class Interrupted(Exception):
    """Raised inside of ``work_folder`` to end a job that may be continued."""


@contextmanager
def work_folder(within: str | None, *job: Any) -> Iterator[str]:
    """Make a folder for a job, and remove it at its end.

    A folder that a killed process has left is used again: within a folder that the user names, by
    the same job, which continues with what is there. Of others, it is removed.

    Parameters
    ----------
    within
        The folder for this folder; by default the one for temporary files.
    job
        All that the results depend on, as values whose ``repr`` tells them.
    """
    if within is None:
        remove_abandoned_folders(tempfile.gettempdir())
        made = tempfile.mkdtemp(prefix=PREFIX)
    else:
        digest = new_hash()
        digest.update(repr(job).encode())
        made = os.path.join(os.path.abspath(within), PREFIX + digest.hexdigest()[:16])
        if not os.path.isdir(within):
            raise NoRegretError("no such folder", "create it", file=within)
    lock = Lock(made)
    try:
        os.makedirs(made, exist_ok=True)
        yield made
    except (KeyboardInterrupt, Interrupted):
        if within is None:
            shutil.rmtree(made, ignore_errors=True)
        raise
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    else:
        shutil.rmtree(made, ignore_errors=True)
    finally:
        lock.release()


def remove_abandoned_folders(within: str) -> None:
    """Remove the folders of this user's processes that have ended without doing so."""
    with suppress(OSError), os.scandir(within) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                own = not hasattr(os, "getuid") or entry.stat().st_uid == os.getuid()
                with suppress(OSError, NoRegretError):
                    if own:
                        lock = Lock(entry.path)
                        shutil.rmtree(entry.path, ignore_errors=True)
                        lock.release()
