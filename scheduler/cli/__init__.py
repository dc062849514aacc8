"""The `berth` command: one module a subcommand."""
