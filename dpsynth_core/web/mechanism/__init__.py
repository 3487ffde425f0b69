"""The views of the Mechanism page."""
