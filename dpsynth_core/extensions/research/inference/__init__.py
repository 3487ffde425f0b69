"""Models that the extension's mechanisms fit to released answers."""
