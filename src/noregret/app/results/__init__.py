"""Results of the commands as data: figures, curves, findings; no words, no files."""

# The learner of a command that names none.
DEFAULT_LEARNER = "auto"
