"""Theorems: statement, assumptions, tuning, and the evidence on which they are evaluated.

A theorem is written beside its algorithm; here is what theorems are made of.
"""
