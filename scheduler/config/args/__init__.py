"""Arguments of the in-tree plugins, one module each, and the registry that users' plugins extend."""
