"""How it is proven that nothing in the class is better: intervals, rounding, witnesses."""
