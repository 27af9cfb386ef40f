"""Verify a certificate: compute every figure again from the data."""

from noregret.proof.verifying.replay import verify
from noregret.proof.verifying.verification import Line, Verification

__all__ = ["Line", "Verification", "verify"]
