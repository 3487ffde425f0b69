"""Conditions that are fixed before a run and decided after it: what a release must be good enough for."""
