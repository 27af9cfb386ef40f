"""The compiled core: losses, engines, and the door through which examples reach them."""
