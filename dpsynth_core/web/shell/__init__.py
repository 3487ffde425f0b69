"""The shared parts of all pages."""
