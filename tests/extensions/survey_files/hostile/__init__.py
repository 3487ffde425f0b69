"""Hostile survey files."""
