"""Certificates and verifications, as text and as HTML."""
