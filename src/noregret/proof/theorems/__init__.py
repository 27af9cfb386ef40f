"""What a theorem is, what it assumes, and the evidence that it is evaluated on."""
