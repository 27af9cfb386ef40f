"""``noregret serve``: models behind an address."""
