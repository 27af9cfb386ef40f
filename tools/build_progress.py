"""Run pip in its verbose mode, and show how far it is in a line or two instead of all it says.

    build_progress.py COMMAND...

On a terminal the line is written over; elsewhere, such as in a log, a new one appears every few
seconds. If the command fails, the end of its output follows.
"""

import re
import subprocess
import sys
import time
from collections import deque

# What pip, Meson and Ninja print, and the words for it here.
STEPS = [
    (re.compile(r"\s*\[(\d+)/(\d+)\] "), r"compiling: step \1 of \2"),
    (re.compile(r"\s*(?:Collecting|Downloading) ([\w.-]+).*"), r"downloading \1"),
    (re.compile(r"\s*Installing collected packages.*"), "installing packages"),
    (re.compile(r"\s*The Meson build system"), "looking at the compiler"),
]
SECONDS_PER_LINE = 5.0
LAST_LINES = 60


def step(line: str) -> str | None:
    """Return what a line of the output says about progress, or None."""
    found = ((pattern.match(line), words) for pattern, words in STEPS)
    return next((match.expand(words) for match, words in found if match), None)


class Progress:
    """One line that changes on a terminal, or a new line every few seconds."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.shown = float("-inf")
        self.terminal = sys.stdout.isatty()

    def show(self, words: str) -> None:
        """Show a step, unless one was shown just now."""
        now = time.monotonic()
        if self.terminal:
            print(f"\r\x1b[K  {now - self.start:3.0f} s  {words}", end="", flush=True)
        elif now - self.shown >= SECONDS_PER_LINE:
            self.shown = now
            print(f"  {now - self.start:3.0f} s  {words}", flush=True)

    def end(self) -> None:
        """Clear the line, and say how long it took."""
        clear = "\r\x1b[K" if self.terminal else ""
        print(f"{clear}  {time.monotonic() - self.start:3.0f} s  done", flush=True)


def main(command: list[str]) -> int:
    """Run a command and return its exit code."""
    progress, last = Progress(), deque[str](maxlen=LAST_LINES)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            last.append(line)
            if words := step(line):
                progress.show(words)
    progress.end()
    if running.returncode:
        print("".join(last))
    return running.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
