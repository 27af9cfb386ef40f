"""The report of `noregret echo`."""
