"""Compiled: batches of plain JSON lines, and which of their ids are new."""
