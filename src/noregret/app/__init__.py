"""The command: its results, its reports, its subcommands."""
