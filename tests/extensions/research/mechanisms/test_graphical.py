"""Graphical models of the extension stand among those of the core as its manifest says."""

from __future__ import annotations

from tests.mechanisms.test_graphical import NAMES


def test_all_of_the_family_are_here() -> None:
    assert NAMES == ["aim", "mwem_pgm", "mst", "privmrf", "hdmm_pgm", "privbayes"]
