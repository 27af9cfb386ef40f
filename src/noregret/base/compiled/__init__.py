"""Compiled: losses, weights of experts; vector instructions, forks and sparse memory."""

from noregret.base.compiled.machine import check_variable

check_variable()
