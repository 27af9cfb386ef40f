"""The bank of learners behind `auto`, and how their predictions are combined."""
