"""The command line: find the command, parse its options, handle help and errors.

``commands`` has one file per command.
"""

from __future__ import annotations

import sys


def script() -> None:
    """Run the command as a process of its own, and end that without freeing object by object.

    Freeing what a run has imported and learned takes longer than all else after its last row.
    """
    import atexit
    import os

    code = 0
    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        code = end.code
    atexit._run_exitfuncs()
    try:
        for page in filter(None, (sys.stdout, sys.stderr)):
            page.flush()
    except OSError:  # which Python reports
        sys.exit(code)
    os._exit(code)


def main() -> None:
    """Run the command; errors become one line on stderr and an exit code, never a traceback."""
    if sys.argv[1:] == ["--version"]:  # printed before anything else is imported
        from noregret._version import __version__

        try:
            print(f"noregret {__version__}", flush=True)
        except OSError as failure:
            sys.exit(f"noregret: {failure}")
        return
    import gc
    import os

    # Our own threads share the work; BLAS threads would compete with them for the cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000, 20, 20)  # imports create many objects that are never garbage
    try:
        from noregret.app.cli.app import run
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))
