"""Checks of a bundle: each a function that says what it saw, or raises why it cannot."""
