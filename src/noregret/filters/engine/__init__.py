"""Compiled: filters over the window of a signal."""
