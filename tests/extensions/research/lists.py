"""Which mechanisms of the extension tests of the core try beside their own (`tests.additions.listed`)."""

CAPPED = ("mwem_pgm", "privmrf", "privbayes")
"""Their models may have a size."""
REFUSE_ZEROS = ("all_pairs",)
"""Mechanisms that do not keep to impossible combinations."""

CHOICES = ("select_signed_query", "select_worst_queries")
"""Operations whose outcomes are few, and whose charge is what they tell at worst."""
OTHER_CHOICES = ("select_rule",)
LOOSE = (
    *("learn_rule", "learn_rule_gaussian", "learn_rule_robustly", "permute_and_flip", "best_mixture_error", "keep_queries", "select_rule"),
)
"""Operations whose charge is a bound that no pair of tables comes near."""
WITH_NOISE_OF_RELEASES = ("keep_queries",)
"""Operations that are audited with OpenDP's noise as well."""
OF_A_PUBLIC_NUMBER = ("learn_rule_robustly",)
"""Operations that are for a public number of rows alone, which they read without a charge."""

HARDLY_ANY_NOISE_SHOWS = ("mwem", "pmwpub", "mixture")
"""Mechanisms in which the draws of a build find noise that is nearly missing."""

GOLDEN_RULES = ("learn",)
"""Golden releases that are a rule and no rows."""
GOLDEN_OF_TRUTH_VALUES = ("oraclequery",)
"""Golden releases whose columns are yes and no."""
GOLDEN_ROWS = ("mwem", "oraclequery")
"""Golden releases whose page answers questions."""

WITHOUT_COUNTS = ("fem",)
"""Mechanisms whose releases have rows and no noisy counts."""

KEEP_PUBLISHED = ("mwem_pgm",)
"""Mechanisms that keep to published tables, and those that do not."""
IGNORE_PUBLISHED = ("privbayes",)

WITHOUT_TABLES = ("dualquery",)
"""Mechanisms that release rows without a single noisy table."""

PUBLIC_CHECKS = ("mixture",)
"""Mechanisms that say how well a public table could stand in for the private one."""

ON_SHORT_LISTS = ("pmwpub", "rap", "fem")
"""Mechanisms that recommendations rest on trials of."""

REPRODUCED = ("fem", "mwem", "oraclequery", "learn", "mixture")
"""Mechanisms of which every part of a release is compared with what its answers come to."""

HOSTILE_PUBLIC = ("pmwpub", "mixture")
"""Mechanisms that careless people ask for with a public table."""

GRAPHICAL = ("mwem_pgm", "privmrf", "hdmm_pgm", "privbayes")
"""Mechanisms whose model has a size and needs no public table."""

CHARGED_AS_PLANNED = ("mwem_pgm",)
"""Mechanisms whose runs are charged the split that is planned, part by part."""

ON_SHORT_LISTS_WITH_PUBLIC = ("pmwpub",)
ON_NO_LIST = ("learn", "oraclequery", "mixture")
"""Mechanisms that answer another question, and are never recommended."""

THRESHOLDS = ("mwem",)
"""Mechanisms that answer who matches at least so many of the columns."""

DRAWN_TWICE = ("mwem", "privsyn")
"""Mechanisms of which two tables of rows are compared with each other."""

CHARGED_BESIDE_PUBLIC = ("rap", "mwem", "pmwpub", "mixture")
"""Mechanisms that are run with a public table at hand, whether or not they use one."""

PURPOSES_OF_ROWS = ("large", "small")
"""Purposes whose mechanisms all make rows."""

ASKING = tuple(f"extensions.research.{room}" for room in ("mechanisms", "inference", "privacy", "oracles", "vocabulary"))
"""Rooms that see answers and nothing else."""
