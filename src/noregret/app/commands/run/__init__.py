"""The command ``noregret run``: play a stream, go on after a stop, write what was asked for."""
