"""The report of ``noregret echo``: spectra, loudness and the reduction of the echo."""
