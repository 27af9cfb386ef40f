"""The batch methods, one file each."""
