"""The views of the Domain page."""
