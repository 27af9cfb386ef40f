"""Linear learners: inputs of every kind, as rows for an engine, and what every learner can do.

``learner`` is their base and ``inputs`` reads examples; ``engine`` has the compiled rounds and
updates.
"""
