"""Mixing forecasts: the streams they come in, the command, what it writes."""
