"""The card of a learner in a notebook."""
