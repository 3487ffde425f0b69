"""Audits of privacy promises: run an operation or mechanism on two neighbouring tables and test whether its answers differ too much.

The tables are of invented people. Answers may tell the two tables apart only as far as the charge allows.

An audit can show that a promise is broken. It can never show that a promise is kept: the proofs are in `privacy`.
"""
