"""Compiled: text and columns of a file, as rows of numbers."""
