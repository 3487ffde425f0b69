"""Models that the wing's mechanisms fit to released answers."""
