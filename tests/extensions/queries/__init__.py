"""Tests of queries that people write."""
