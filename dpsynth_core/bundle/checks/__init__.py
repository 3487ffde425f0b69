"""Checks of a bundle. Each is a function that returns what it saw, or raises why the bundle fails."""
