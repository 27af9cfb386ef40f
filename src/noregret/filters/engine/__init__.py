"""Compiled: adaptive filters over a sliding window of samples, and their steps."""
