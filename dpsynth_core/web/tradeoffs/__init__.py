"""The views of the Trade-offs page."""
