"""The report of ``noregret mix``: experts, weights and what they would have cost."""
