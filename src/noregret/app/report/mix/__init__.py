"""The report of `noregret mix`."""
