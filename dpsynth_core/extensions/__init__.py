"""Built-in extensions: features that the core does not import, each in a folder that can be deleted."""
