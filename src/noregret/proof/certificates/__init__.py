"""Certificates: what they state, how they are issued, how they are read."""
