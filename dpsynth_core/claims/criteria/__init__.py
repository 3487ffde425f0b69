"""Criteria: conditions on a release that are fixed before a run and decided after it."""
