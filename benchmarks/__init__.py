"""Benchmarks against peers: one file per benchmark, found by walking this package.

A benchmark is a module with a function ``run(quick)`` that yields rows and grids, and a tuple
``PACKAGES`` of the packages whose versions matter to it. Modules that begin with an underscore
are not benchmarks.
"""
