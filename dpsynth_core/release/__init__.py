"""Releases: their making, their transcripts and their rows."""
