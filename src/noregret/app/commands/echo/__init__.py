"""The command `noregret echo`."""
