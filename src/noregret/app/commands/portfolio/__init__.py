"""The command `noregret portfolio`."""
