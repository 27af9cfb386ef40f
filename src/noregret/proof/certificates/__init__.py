"""Certificates: their contents, how a game issues one, and their files."""
