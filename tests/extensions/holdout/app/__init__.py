"""Tests of the part of a page that leaves people out."""
