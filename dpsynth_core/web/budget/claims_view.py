"""The claims on the Budget page: a card for each measurement of the rows' quality, with its share of the budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.claims import weighing
from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.claims.criteria.criteria import CRITERIA
from dpsynth_core.claims.models import training_time
from dpsynth_core.claims.models.specs import MAX_MODELS
from dpsynth_core.claims.models.targets import predictable
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.claims.weights import NUMBERS, USUAL_SHARE, WeightSpec
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning import precision
from dpsynth_core.planning.plan import Shares
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.budget import budget_view, criteria_view
from dpsynth_core.web.shell import additions, document, fields, frame, numbers, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal, names, one_line

OF_LINKED = (CERTIFICATE.name, WEIGHTED.name)
"""The claims on two linked tables; criteria are shown too if the plan has some."""


def cards(project: Current, workload: Workload, unit: Unit, shares: Shares) -> None:
    """Draw a card for each claim (a measurement of the rows' quality), with its share of the budget, in one expander.

    For two linked tables these are the certificate, the weights and, if the plan has some, the criteria. The
    expander's title states the certificate's share in percent. The expander is closed unless the plan has criteria or
    predictions. Chosen shares are saved in the draft.

    Args:
        project: The open project.
        workload: The workload.
        unit: The unit of privacy.
        shares: The division of the budget, in rho.
    """
    linked = document.is_linked(project.draft)
    weighs = extension.layout(document.stated(project.draft)) is None or bool(project.draft.get("weight"))
    of_linked = OF_LINKED if weighs else tuple(name for name in OF_LINKED if name != WEIGHTED.name)
    criteria, predicted = (len(project.draft.get(part) or ()) for part in ("criteria", "models"))
    said = [f"{100 * fields.value(budget_view.CERTIFICATE, 0.0):g}% for a certificate"]
    said += [f"{criteria or 'no'} criteri{'on' if criteria == 1 else 'a'}"] * (criteria > 0 or not linked)
    said += [] if linked else [f"{predicted or 'no'} prediction{'s' * (predicted != 1)}"]
    asked = bool(criteria or (predicted and not linked))
    with st.expander(f"Row checks: {', '.join(said)}", asked, icon=":material/rule:", key=f"{project.id}:claims_{asked}"):
        for name, card in CARDS.items():
            if not linked or name in of_linked or (name == CRITERIA.name and criteria):
                card(project, workload, unit, shares)
        for claim in () if linked else CLAIMS:
            if claim.name not in CARDS and not claim.setting:
                with frame.card(claim.title, Zone.PUBLIC, claim.reading):
                    usual = (claim.share.default, 0.02, 0.05, 0.1)
                    fields.share(f"Share of the budget for {claim.purpose}", f"budget.{claim.name}", usual, claim.share.default)
        additions.draw("row_checks", project)


SHARE = "budget.models"
SHARES = (0.01, 0.02, 0.05, 0.1)
HELP = (
    "When the rows are final, two models of each column are trained on them, as any reader can: gradient boosting and a logistic or "
    "linear regression. How often each is right about the people of the private table is counted once, with noise, and published."
)
WEIGHT_HELP = (
    "The rows get a calibrated weight from this column. Take the design weight, which depends on no other record; a weight adjusted to "
    "the whole sample does. A household's weight is that of its members. The column's upper bound is the largest weight that counts; a "
    "smaller bound makes the noise smaller."
)
NEAR_HELP = (
    "A guess is right if no value of the person's bin is further from it than this. Leave it empty for a tenth of the column's range."
)


def models(project: Current, workload: Workload, unit: Unit, shares: Shares) -> None:
    """Draw the card that chooses the columns that models are to predict, stored in the draft.

    Once a column is chosen or a criterion needs models, it also has the share of the budget, the
    tolerance of chosen columns of numbers, the margin of the published rates and the time of
    training. If the targets are invalid, the error is drawn instead, except a criterion's error,
    which its own card shows.

    Args:
        project: The open project.
        workload: The workload.
        unit: The unit of privacy.
        shares: The division of the budget.
    """
    with frame.card("Columns to predict", Zone.PUBLIC, HELP):
        domain = workload.domain
        chosen = [one["column"] for one in project.draft.get("models", [])]
        offered = list(dict.fromkeys([*predictable(domain), *chosen]))
        look: dict[str, Any] = {"format_func": one_line, "max_selections": MAX_MODELS, "placeholder": "no column"}
        fields.linked("models", chosen, _choose, st.multiselect, "Models should predict", offered, **look)
        studied = project.draft.get("workload", {}).get("column")
        if studied in offered and studied not in chosen:
            add = partial(_choose, [*chosen, studied])
            st.button(f"Predict {literal(studied, 40)}, the workload's target", icon=":material/add:", key="predict_target", on_click=add)
        try:
            targets = document.targets(project.draft)
        except InputError as error:
            if not error.field.startswith(document.CRITERION):  # the card of the criterion shows it
                fields.problem(error)
            return
        if not targets:
            st.caption("Readers will not know how good models are that are trained on these rows.")
            return
        columns = [target.column for target in targets]
        if also := [column for column in columns if column not in chosen]:
            st.caption(f"Criteria need models of {names(also)} too.")
        for target in targets:
            if target.tolerance is not None and target.column in chosen:
                _tolerance(project, target.column, target.tolerance)
        fields.share("Share of the budget for models", SHARE, SHARES, MODELS.share.default)
        margin, people = precision.models_margin(shares.of(MODELS.name), unit, len(columns)), document.people(project.draft)
        known = f"± {margin / people:.2%} of the people" if people else f"± {numbers.count(margin)} people"
        st.caption(f"You will know to {known} how often models of {names(columns)} are right, each with 95% confidence.")
        st.caption(f"{training_time.sentence(targets, len(domain), fields.value('output.rows'))}.")


def weights(project: Current, *_plan: object) -> None:
    """Draw the card of the column of survey weights; the choice is stored in the draft.

    With a column, the share of the budget is drawn too, and an error if the column cannot be the weight.

    Args:
        project: The open project.
        *_plan: Not used; other cards take the plan's parts.
    """
    with frame.card(WEIGHTED.title, Zone.PUBLIC, WEIGHTED.reading):
        stated = project.draft.get("weight")
        offered = [None, *(one.name for one in document.domains(project.draft)[0] if one.kind in NUMBERS)]
        if stated and stated["column"] not in offered:
            offered.append(stated["column"])
        look: dict[str, Any] = {"format_func": lambda name: one_line(name or "no column"), "help": WEIGHT_HELP, "placeholder": "no column"}
        fields.linked("weight", stated and stated["column"], _weigh, st.selectbox, "Column of survey weights", offered, **look)
        if stated:
            fields.share("Share of the budget for weighted tables", "budget.weighted", (0.02, 0.05, 0.1), USUAL_SHARE)
            with fields.minded():
                link = document.link(project.draft) if document.is_linked(project.draft) else None
                weighing.check(document.domain(project.draft), WeightSpec(**stated), link)


@session.edits
def _weigh(draft: Draft, column: str | None) -> None:
    draft.pop("weight", None)
    draft["budget"].pop("weighted", None)
    if column is not None:
        draft["weight"] = {"column": column}
        draft["budget"]["weighted"] = USUAL_SHARE


@session.edits
def _choose(draft: Draft, columns: list[str]) -> None:
    before = {one["column"]: one for one in draft.get("models", [])}
    draft["models"] = [before.get(column, {"column": column}) for column in columns]


def _tolerance(project: Current, column: str, usual: float) -> None:
    stated = next(one.get("tolerance") for one in project.draft["models"] if one["column"] == column)

    @session.edits
    def take(draft: Draft, entered: float | None) -> None:
        nearer = {"column": column} | ({} if entered is None else {"tolerance": entered})
        draft["models"] = [nearer if one["column"] == column else one for one in draft.get("models", [])]

    label = f"{literal(column, 40)}: right within ±"
    look = {"min_value": 1e-9, "value": None, "format": "%g", "placeholder": numbers.short(usual), "help": NEAR_HELP}
    fields.linked(f"near:{column}", stated, take, st.number_input, label, **look)


Card = Callable[[Current, Workload, Unit, Shares], None]
CARDS: Mapping[str, Card] = {
    CERTIFICATE.name: budget_view.certificate,
    CRITERIA.name: criteria_view.criteria,
    MODELS.name: models,
    WEIGHTED.name: weights,
}
"""The cards by the claim's name, in the order of the page. A claim without a card here gets a card with its share only."""
