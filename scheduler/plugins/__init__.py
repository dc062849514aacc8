"""The in-tree plugins, one module or package each."""
