"""Playing against a stream while everything is recorded that a certificate needs."""
