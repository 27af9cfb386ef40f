"""The compiled core: losses, engines, and the door through which examples reach them."""

from noregret.core.cpu import check_variable

check_variable()
