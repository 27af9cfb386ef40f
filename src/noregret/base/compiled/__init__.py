"""Compiled: losses, weights of experts, and the machine underneath."""

from noregret.base.compiled.machine import check_variable

check_variable()
