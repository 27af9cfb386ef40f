"""One file per adaptive filter: its update in words, its promise and its class, on one page."""
