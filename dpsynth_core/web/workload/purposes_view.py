"""Purposes of the release on the Workload page, in plain words, each with its tables and their cost.

Tables drawn at random from a seed are how papers choose the tables on which they compare methods.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpsynth_core.claims.ranges import USUAL_SHARE
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.proposals import Cost
from dpsynth_core.vocabulary.drawn_marginals import PAPER_DRAWS, RANDOM, SKEWED
from dpsynth_core.vocabulary.workload import MAX_DRAWS
from dpsynth_core.web.shell import document, fields, numbers, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.numbers import duration
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

DRAWN_KINDS = {RANDOM: "every table alike", SKEWED: "a few columns far more often"}
DRAWN, DRAWN_TITLE = "drawn", "Drawn at random"
_DRAWN_HELP = (
    "For comparing methods as papers do. Alike: different tables, each as likely as any other. Far more often: each column gets a random "
    "weight, and tables are drawn by the product of their columns' weights; one that comes twice counts twice. The AIM paper draws "
    f"{PAPER_DRAWS} tables of three columns so."
)


def way_of(workload: Mapping[str, Any]) -> str:
    """Return the page's name for the kind of a workload: its "kind", or `DRAWN` for both kinds of random draws.

    Args:
        workload: The workload, as in the draft.
    """
    return DRAWN if workload["kind"] in DRAWN_KINDS else str(workload["kind"])


def start_drawn(columns: int) -> dict[str, Any]:
    """Return the default workload of randomly drawn tables, as in the draft.

    It has at most 64 tables of three columns (fewer if the domain has fewer), drawn with seed 0.

    Args:
        columns: The number of columns of the domain.
    """
    k = min(3, columns)
    return {"kind": RANDOM, "k": k, "count": min(64, math.comb(columns, k)), "seed": 0}


def drawn_form() -> None:
    """Draw the fields of a randomly drawn workload, stored in the draft.

    They are the distribution, the number of tables, and the seed. The number of columns per table
    has a field that other kinds of workloads share.
    """
    fields.choice("Which are drawn", "workload.kind", list(DRAWN_KINDS), DRAWN_KINDS, kind="segmented", help=_DRAWN_HELP)
    fields.number("Tables to draw", "workload.count", lambda text: numbers.whole(text, "workload.count", 1, MAX_DRAWS))
    seed = "The same seed draws the same tables, on every machine. It is published with the plan; no privacy depends on it."
    fields.number("Seed of the draw", "workload.seed", lambda text: numbers.whole(text, "workload.seed", 0, 2**63 - 1), help=seed)


COST_HELP = (
    "± people is the error that 95% of all cells stay within, at the chosen budget and mechanism, if as many tables are measured as an "
    "adaptive mechanism would choose."
)
OWN = "own"
_MORE_THAN_MINUTES, _MORE_THAN_MB = 60, 4000
"""Above these limits, time and memory are shown."""


def served(draft: Draft) -> str:
    """Return the name of the proposed purpose whose workload the draft has; otherwise `OWN`.

    A threshold is ignored, because it asks other questions of the same tables. The draft must have a domain
    and a workload.
    """
    tables = without_threshold(draft["workload"])
    return next((proposal.name for proposal in document.proposals(draft) if dict(proposal.form) == tables), OWN)


def choice(project: Current, own: Mapping[str, Any]) -> None:
    """Draw the choice of a purpose, and of a column if the purpose is about one.

    The purpose's workload is stored in the draft; a purpose about ranges also sets their usual
    share of the budget, unless the draft states a share.

    Args:
        project: The open project.
        own: The workload that the choice "A list of your own" sets.
    """
    proposals = document.proposals(project.draft)
    forms = {proposal.name: dict(proposal.form) for proposal in proposals} | {OWN: dict(own)}
    names = {proposal.name: f"**{literal(proposal.title)}**  \n{proposal.text}" for proposal in proposals}
    names[OWN] = "**A list of your own**  \nChoose the tables and their weights."
    now = served(project.draft)
    offered = [({**project.draft, "workload": forms[one.name]}, one.name == now) for one in proposals]
    costs = [words(document.cost(draft, read=chosen)) for draft, chosen in offered]

    @session.edits
    def take(draft: Draft, purpose: str) -> None:
        keep(draft)
        draft["workload"] = dict(forms[purpose])
        if draft["workload"]["kind"] == "ranges":  # unless the Budget page says something else
            draft["budget"] = {"ranges": USUAL_SHARE} | draft["budget"]

    look = {"format_func": names.get, "captions": [*costs, ""], "label_visibility": "collapsed"}
    fields.linked("purpose", now, take, st.radio, "What will readers study?", list(forms), **look)
    if now == "target":
        columns = document.domain(project.draft).names
        fields.choice("Which column is to be explained?", "workload.column", columns, {name: name for name in columns})


def keep(draft: Draft) -> None:
    """Store the present workload in the draft's notes, in place, for a later return to its kind.

    A list of tables that a purpose proposed is not stored, because it is not the curator's own.
    """
    way = way_of(draft["workload"])
    if way != "marginals" or served(draft) == OWN:
        draft["wizard"].setdefault("workloads", {})[way] = draft["workload"]


def without_threshold(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the workload, as in the draft, without its threshold: all columns of a table have to match."""
    return {key: value for key, value in form.items() if key != "threshold"}


def words(cost: Cost | InputError) -> str:
    """Return the cost of a workload as Markdown.

    It states the number of tables, the number of passes over the records if there are several, and the noise in people
    (half width of a cell's 95 % interval). If the time exceeds an hour or the memory 4,000 MB, it states both. For an
    InputError, or a workload that cannot run, it states the reason.
    """
    if isinstance(cost, InputError):
        return f":orange[:material/block:] {literal(str(cost), 500)}"
    tables = f"{cost.tables:,} table{'s' * (cost.tables != 1)}"
    if cost.passes > 1:
        tables += f", counted in {cost.passes} passes over the records"
    needed = cost.forecast
    if not needed.fits:
        return f"{tables} · :orange[:material/block:] {literal(needed.reason, 500)}"
    told = f"{tables} · ± {cost.noise_measured:,.0f} people"
    if needed.seconds > 60 * _MORE_THAN_MINUTES or needed.memory_mb > _MORE_THAN_MB:
        told += f" · :orange[:material/hourglass_top:] {duration(needed.seconds)}, {needed.memory_mb:,.0f} MB of memory"
    return told
