"""What a command has found, as data."""
