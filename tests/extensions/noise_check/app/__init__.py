"""Tests of the part of a page that shows the size of the noise."""
