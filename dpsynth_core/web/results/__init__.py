"""The views of the Results page."""
