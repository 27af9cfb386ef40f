"""Compiled: the way of an example from the entry to the weights.

``entry`` checks one example, ``block_rows`` blocks and streams of them, ``features`` gives names
positions, ``engine`` plays the round, and every other module is a family of updates.
"""
