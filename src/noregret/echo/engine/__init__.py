"""Compiled: the path of an echo, its delay, and the suppressor of the residual."""
