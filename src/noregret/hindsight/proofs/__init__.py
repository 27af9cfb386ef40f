"""Proofs that nothing in a class is better: intervals, bounds on rounding, witnesses."""
