"""The bank of learners behind ``auto``, compiled, and its findings in words.

``predicting`` combines the predictions of its members, ``learning`` teaches and weights them,
``bank`` keeps the whole; ``memory_filters`` are its recursive filters.
"""
