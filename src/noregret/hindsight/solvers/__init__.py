"""How the best of a class is found."""
