"""Aggregated Mondrian forests: the engines, compiled."""
