"""Dummy rows from and as files of survey programs."""
