"""The generator of scheduling cases, one module for each kind of them."""
