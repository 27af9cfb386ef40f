"""The report of ``noregret run``: figures, curves, weights and the certificate."""
