"""Tests of written queries that RAP measures."""
