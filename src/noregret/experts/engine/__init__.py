"""Compiled: the round over experts, and the entry in which rounds are checked."""
