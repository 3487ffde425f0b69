"""Tests of attacks on synthetic rows."""
