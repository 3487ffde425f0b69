"""What the extension adds to lists in tests of the core (`tests.additions.listed`)."""

BUILDS_KERNELS = ("extensions.audit",)
"""Rooms that build a kernel, on tables that they invent."""
ALL_MECHANISMS = ("tests/extensions/audit/test_mechanisms.py",)
"""Tests that go through all mechanisms."""
