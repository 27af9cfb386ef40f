"""Linear learners: their base class, and the conversion of inputs to rows for an engine.

``learner`` is their base and ``inputs`` reads examples; ``engine`` has the compiled rounds and
updates.
"""
