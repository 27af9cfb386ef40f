"""Compiled: how an example becomes a row, and what a learner does with it."""
