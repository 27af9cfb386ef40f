"""Games: a learner or table player against a stream, with everything that a certificate needs.

``game`` is for linear learners, ``table_game`` for masters, policies and strategies;
``certified_learner`` keeps a game inside a learner.
"""
