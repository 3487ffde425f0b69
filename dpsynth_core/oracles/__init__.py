"""Oracles: exact answers to hard optimisation problems, with a proof where there is one. Nothing here keeps, logs or reports a question.

Record oracles (FEM, sepFEM, DualQuery, DQRS, OracleQuery's data player) are asked about released queries and rules, and about perturbations
that protect nobody. So whatever they answer is a map of released values: which of many best records it is, whether it was proved, how long
it took, or that a process died. A limit of wall time makes it depend on the machine besides, and on no record.

The learning oracle is asked by the privacy room, about records with noise. There an answer may be anything that is proved to be a cheapest
rule, however it is written; `privacy.learning.rspm` has the proof, writes it anew, and says what a missing proof means.
"""
