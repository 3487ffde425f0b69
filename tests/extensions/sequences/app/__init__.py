"""Tests of the pages, with rows of a person in order."""
