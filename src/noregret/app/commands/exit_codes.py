"""Exit codes of the command."""

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
