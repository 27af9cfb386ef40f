"""The bank of learners of ``auto``, compiled, and its findings in words.

A ``bank`` has ``members``, which predict and learn, and a ``mixer``, which weights them by their
losses; ``layout`` is their order, and ``memory_filters`` are the recursive filters among them.
"""
