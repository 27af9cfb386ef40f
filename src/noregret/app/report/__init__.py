"""How results are shown: in a terminal, in a notebook."""
