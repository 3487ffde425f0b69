"""Tests of the card on the page Budget."""
