"""One file per adaptive filter: its update, its promise and its class."""
