"""Compiled code that takes an example from input to updated weights.

``entry`` checks one example, ``block_rows`` blocks and streams of examples; ``features`` maps names
to positions, ``engine`` plays the round, and every other module implements a family of updates.
"""
