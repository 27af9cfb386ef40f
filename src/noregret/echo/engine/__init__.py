"""Compiled: the echo path, its delay, and what suppresses the rest."""
