"""The report of `noregret portfolio`."""
