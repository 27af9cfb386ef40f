"""One file an adaptive filter."""
