"""Counting queries as a numbered class."""
