"""The scheduling cycle and the binding cycle."""
