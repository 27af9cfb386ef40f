"""Compiled: the round over experts."""
