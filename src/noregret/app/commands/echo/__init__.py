"""The command ``noregret echo``: read two recordings, cancel the echo, write what is left."""
