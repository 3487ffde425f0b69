"""More rows of a finished release, or rows of a group, from its model, fitted again from what was released. Released values only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import sampling, synthesis
from dpsynth_core.release.sampling import Refitted
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.results.open_runs import KEY, OpenRun
from dpsynth_core.web.shell.more_rows import more_rows as asked_for
from dpsynth_core.web.shell.text import file_stem, one_line

Where = dict[str, tuple[str, ...]]


@st.cache_resource(max_entries=2, show_spinner="Fitting the model again, which takes about as long as the run took …", **KEY)
def _fitted(opened: OpenRun) -> Refitted:
    return sampling.refit(opened.release, synthesis.feasible(Plan.of(opened.run.spec)))


def more_rows(opened: OpenRun) -> None:
    release = opened.release
    if release.row_seed is None or release.plan.link is not None:  # of two linked tables no more rows are drawn yet
        return

    def draw(rows: int, where: Where) -> tuple[str, Callable[[], bytes]]:
        drawn = sampling.sample(_fitted(opened), rows, where)
        return drawn.errors, partial(releases.content_of, drawn.rows, releases.write_csv)

    asked_for(opened.run.id, f"{file_stem(release.spec.name)}-more.csv", partial(_whom, release.domain), draw)


def _whom(domain: Domain) -> Where | None:
    left, right = st.columns([1, 2])
    look = {"format_func": lambda name: one_line(name) or "everybody", "key": "sampled_column"}
    column = left.selectbox("Of whom", ["", *domain.names], **look)
    if not column:
        return {}
    values = {"format_func": one_line, "key": f"sampled_values_{column}", "placeholder": "Choose values"}
    chosen = tuple(right.multiselect("With", domain[column].cell_labels(), **values))
    return {column: chosen} if chosen else None
