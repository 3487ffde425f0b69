"""Tests of dummy rows."""
