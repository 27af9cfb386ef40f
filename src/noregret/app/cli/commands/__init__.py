"""One file a command; the function has the file's name."""
