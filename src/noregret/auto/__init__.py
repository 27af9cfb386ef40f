"""The bank of learners of ``auto``, compiled, and its findings in words.

``predicting`` mixes the predictions of its members, ``learning`` updates and weights them, ``bank``
has findings and state; ``memory_filters`` are its recursive filters.
"""
