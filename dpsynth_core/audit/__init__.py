"""Audits from below: run an operation or a mechanism on two neighbouring tables of invented people, and see whether its answers tell them
apart better than its charge allows.

An audit can show that a promise is broken. It can never show that a promise is kept: the proofs are in `privacy`.
"""
