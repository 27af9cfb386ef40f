"""The work of each command: read, play, write; exit codes, options and printing that all share."""

# Exit codes.
DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
