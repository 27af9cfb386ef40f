"""The work of each command: read, play, write; exit codes, options and printing that all share."""
