"""Mechanisms: one file each, with their registry."""
