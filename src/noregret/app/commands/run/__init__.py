"""What ``noregret run`` does: a stream, a learner, and all that is written down about them."""

# The learner of a command that names none.
DEFAULT = "auto"
