"""Solvers for the best of a class: active sets, Newton steps, quadratic and tangent models."""
