"""Mechanisms that give answers, without rows."""
