"""Mechanisms that project answers onto relaxed rows or a network: RAP and GEM."""
