"""Mondrian forests: the promise against all prunings, records, budget and units."""
