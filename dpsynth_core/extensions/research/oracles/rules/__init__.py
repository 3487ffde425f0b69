"""Oracles that find the cheapest rule of a class, with a proof."""
