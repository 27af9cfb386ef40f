"""Proofs of how well a learner did: games, what they record, theorems, certificates, verifying."""
