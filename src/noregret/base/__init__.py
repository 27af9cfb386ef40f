"""What every family of algorithms stands on: losses, weights, names, parameters, files."""
