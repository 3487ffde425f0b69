"""Oracles that search for a record that satisfies many queries, with a proof."""
