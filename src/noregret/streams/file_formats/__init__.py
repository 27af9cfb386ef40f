"""One file for each format that a stream reads."""
