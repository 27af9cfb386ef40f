"""The best fixed predictor after the fact."""
