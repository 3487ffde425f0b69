"""Tests of the card in Chromium."""
