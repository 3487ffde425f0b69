"""Trade-offs: the same plan with several mechanisms and budgets, tried on a table, and the errors that resulted.

On a table that is simulated or public, the errors are exact and free. On the private table every
trial is charged, and its exact errors are curator-only. No row of a trial is ever kept, so none can
be released.
"""

from dpsynth_core.foundation.extension import Extension, Page, Work

_HERE = "dpsynth_core.extensions.tradeoffs"

EXTENSION = Extension(
    summary="Mechanisms, budgets and settings tried on a table, before anything is spent.",
    commands=(f"{_HERE}.command:add",),
    jobs=(Work("sweep", f"{_HERE}.work:begin"),),
    pages=(
        Page(
            name="tradeoffs",
            title="Trade-offs",
            section="Explore",
            icon=":material/stacked_line_chart:",
            help="Try mechanisms and budgets at no cost.",
            draw=f"{_HERE}.page:draw",
        ),
    ),
    views=(("mechanisms", f"{_HERE}.page:from_mechanisms"), ("compare", f"{_HERE}.page:from_compare")),
    sentences=(("recommendations", "The page Trade-offs tries data like yours."),),
)
