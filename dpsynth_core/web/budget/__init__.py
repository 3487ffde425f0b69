"""The views of the Budget page."""
