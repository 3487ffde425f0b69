"""Mechanisms that answer the tables of a workload and make no rows."""
