"""Theorems: statement, assumptions, tuning, and the evidence on which they are evaluated.

A theorem is defined with its algorithm; these modules hold the building blocks of theorems.
"""
