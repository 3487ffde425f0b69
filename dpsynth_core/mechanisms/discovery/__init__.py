"""Decisions about open columns of a domain, from noisy answers alone."""
