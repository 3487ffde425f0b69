"""Tests of the extension for clusters."""
