"""Oracles: exact answers to hard optimisation problems, with a proof where there is one. They know public or released values only.

Where an oracle is asked inside the privacy room, it is the caller who vouches for what the numbers are; nothing here keeps, logs or
reports them.
"""
