"""Oracles: exact answers to hard optimisation problems, with a proof where there is one. Nothing here keeps, logs or reports a question.

Record oracles (FEM, sepFEM, DualQuery, DQRS, OracleQuery's data player) are asked about released queries and rules, and about perturbations
that protect no one. So every answer is a function of released values: which of many best records it is, whether it was proved, or that a
process died. With a limit of wall time it also depends on the machine, but on no record.

The learning oracle is asked by the privacy room, about records with noise. There an answer may be any rule that is proved to be cheapest,
in any form; `research.privacy.rspm` has the proof, rewrites the rule in one form, and states what a missing proof means.
"""
