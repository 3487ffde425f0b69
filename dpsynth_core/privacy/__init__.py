"""The privacy room: costs, accounting, noise and the one kernel that sees private counts. Start reading at kernel.py.

An operation releases its answer, and nothing about how it was computed (Proposition 22). The propositions are in docs/proofs.md.
"""
