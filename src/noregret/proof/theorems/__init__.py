"""Theorems: statement, assumptions, tuning, and the evidence on which they are evaluated.

A theorem is defined with its algorithm; these modules have the parts of theorems.
"""
