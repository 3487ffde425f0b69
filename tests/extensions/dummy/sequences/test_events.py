"""Dummy rows of a plan with a third table are refused: nothing would say which rows its events are of."""

from __future__ import annotations

import json
from pathlib import Path

import dpsynth_core as dps
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.planning.spec import Spec
from tests.extensions.sequences.events.walk import COLUMNS, files
from tests.extensions.sequences.stays import MOST
from tests.refusals import refused


def test_a_third_table_is_refused(tmp_path: Path) -> None:
    files(tmp_path, 20)
    persons, rows = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("persons", "rows"))
    more = {"order": "admitted", "events": "drugs.csv", "event_key": "visit", "event_column": COLUMNS, "most_events": 3}
    planned = dps.plan(
        tmp_path / "persons.csv", persons, epsilon=4, person="patient", rows_per_person=MOST, members=(tmp_path / "rows.csv", rows), **more
    )
    refused(Order.of_spec, Spec.from_json(planned.spec), 10, 1, saying="third table")
