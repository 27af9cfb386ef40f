"""Learners over features: their rows, their engines, and what all of them can do."""
