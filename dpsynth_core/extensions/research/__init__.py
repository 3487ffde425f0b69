"""The systems of the papers and their rivals: mechanisms beyond the core's, with operations, oracles and audits of their own."""

from dpsynth_core.foundation.extension import Extension, Offer, Purpose

_HERE = "dpsynth_core.extensions.research.mechanisms"

EXTENSION = Extension(
    summary="The systems of the papers and their rivals.",
    purposes=(
        Purpose(
            "large", "Very large workloads",
            "More tables, or larger ones, than graphical models can hold; the largest error of a single count matters most.",
            research=True, after="public",
        ),
        Purpose(
            "small", "Small domains", "So few columns that there can be a number for every possible row.",
            research=True, after="large",
        ),
        Purpose(
            "learning", "Certified learning",
            "Columns of two values: a rule, or rows for a whole class of rules, with a proof that it is the best one under its noise.",
            research=True,
        ),
    ),
    mechanisms=(
        Offer("mwem_pgm", "default", f"{_HERE}.graphical.mwem_pgm:MwemPgm", f"{_HERE}.graphical.mwem_pgm:PUBLISHED", after="aim"),
        Offer("privmrf", "default", f"{_HERE}.graphical.privmrf:PrivMrf", after="mst"),
        Offer("hdmm_pgm", "default", f"{_HERE}.graphical.hdmm_pgm:HdmmPgm", after="privmrf"),
        Offer("privbayes", "default", f"{_HERE}.graphical.privbayes:PrivBayes", after="hdmm_pgm"),
        Offer("pmwpub", "public", f"{_HERE}.weights.reweighing:PmwPub", f"{_HERE}.weights.reweighing:PMWPUB_PUBLISHED"),
        Offer("mixture", "public", f"{_HERE}.weights.mixture:Mixture", f"{_HERE}.weights.mixture:PUBLISHED"),
        Offer("rap", "large", f"{_HERE}.projection.rap:Rap", f"{_HERE}.projection.rap:PUBLISHED"),
        Offer("gem", "large", f"{_HERE}.projection.gem:Gem", f"{_HERE}.projection.gem:PUBLISHED"),
        Offer("all_pairs", "large", f"{_HERE}.projection.all_pairs:AllPairs"),
        Offer("privsyn", "large", f"{_HERE}.projection.privsyn:PrivSyn"),
        Offer("fem", "large", f"{_HERE}.games.primal_game:Fem", f"{_HERE}.games.primal_game:FEM_PUBLISHED"),
        Offer("sepfem", "large", f"{_HERE}.games.primal_game:SepFem", f"{_HERE}.games.primal_game:SEPFEM_PUBLISHED"),
        Offer("dualquery", "large", f"{_HERE}.games.dual_game:DualQuery", f"{_HERE}.games.dual_game:DUALQUERY_PUBLISHED"),
        Offer("dqrs", "large", f"{_HERE}.games.dual_game:Dqrs", f"{_HERE}.games.dual_game:DQRS_PUBLISHED"),
        Offer("mwem", "small", f"{_HERE}.weights.reweighing:Mwem", f"{_HERE}.weights.reweighing:MWEM_PUBLISHED"),
        Offer("hdmm", "answers", f"{_HERE}.answers.hdmm:Hdmm", after="residual_planner"),
        Offer("oraclequery", "learning", f"{_HERE}.rules.oraclequery:OracleQuery", f"{_HERE}.rules.oraclequery:PUBLISHED"),
        Offer("learn", "learning", f"{_HERE}.rules.learn:Learn", f"{_HERE}.rules.learn:PUBLISHED"),
    ),
    operations="dpsynth_core.extensions.research.operations",
    parts=(("audit", "dpsynth_core.extensions.research.audits"),),
)  # fmt: skip
