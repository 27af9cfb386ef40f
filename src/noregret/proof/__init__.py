"""Proofs of how well a learner did: games, records, theorems, certificates, verifying."""
