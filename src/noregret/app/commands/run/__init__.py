"""The command ``noregret run``: play a stream, resume after a stop, write the requested files."""
