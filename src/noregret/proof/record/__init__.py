"""What is collected while a learner plays: a digest, sums, rows, and the points of a curve."""
