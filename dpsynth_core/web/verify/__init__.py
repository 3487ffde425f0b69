"""The views of the Verify page."""
