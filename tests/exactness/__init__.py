"""Checks of hindsight's intervals against exact arithmetic.

Every module of this package that has a function ``draw(seed)`` is a source of cases: a seed makes
the data, the class of predictors and the loss, and ``Case.check`` compares the interval that
hindsight answers with rational or high-precision arithmetic. A short run is part of the tests;
``tools/exactness.py`` runs as many cases as it is asked for.
"""
