"""Compiled: text and columns of files, parsed into rows of numbers."""
