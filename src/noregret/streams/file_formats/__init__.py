"""One file per format that a stream reads; each names the extensions that it is for."""
