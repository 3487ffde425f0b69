"""The privacy room: costs, accounting, noise and the one kernel that sees private counts. Start reading at kernel.py.

An operation releases its answer, and nothing about how it was computed. Where several answers are possible, the choice is made so:

- Noisy maxima: Gumbel noise is drawn to as many digits as it takes, so that no two candidates are equal. Candidates stand in the order of
  the question. How `selection.exponential` lays queries into groups and buckets follows from the table; all that changes is the d of its
  Proposition. Inside a group one query is drawn, each as likely. Several are drawn one after the other, and released in that order.
- Permute-and-flip: among the coins that show heads one is drawn, each as likely; the order of groups does not matter
  (`selection.flipping`).
- Largest errors: the number is released, not where it was found. Errors, counts and bits come back in the order of the question.
- Residuals and marginals choose nothing. Rounding noise is a function of the noise alone (`lattice`).
- The best-mixture error: at which of many best weights the solver stops changes the number within a tolerance that is part of its
  sensitivity (`best_mixture`). The weights stay here.
- Rules: of equally cheap ones any may be returned, also by looking at the records (`learning.rspm`, Theorem). How a rule is written
  follows from its values on the separators alone (there too, Forms). PRSMA's parts and its choice among them are drawn at random.

Everything decided outside of this room is decided by released values: how a tie is broken there tells no more than they do.
"""
