"""The report of `noregret run`."""
