"""Kinds of columns. `registry` lists them."""
