"""Tests of the part of a page that shows attacks."""
