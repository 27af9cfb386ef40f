"""One file per batch method: its objective in words, its promise and its class, on one page."""
