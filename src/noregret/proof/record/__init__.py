"""The record of a game: a digest of the data, sums, the rows themselves, points of a curve.

``ledger`` collects the pages that the compiled recorder fills, in another thread if they are large.
"""
