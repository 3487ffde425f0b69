"""The views of the Data page."""
