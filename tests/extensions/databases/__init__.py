"""Tests of the extension for databases."""
