"""A Dask cluster that counts, chosen on the Data page."""

from __future__ import annotations

from pathlib import Path

from dpsynth_core.extensions.cluster import view
from dpsynth_core.web.data import project_table
from tests.app.demo_project import field, stored, words
from tests.app.test_preparation_pages import CSV, first_visit
from tests.refusals import refused


def test_a_dask_cluster_can_count_and_is_forgotten_with_its_address() -> None:
    app = first_visit("people.csv", CSV)
    assert not [element for element in app.text_input if element.label.startswith("Address of its scheduler")]
    field(app, "button_group", ":data.engine").set_value("dask").run()
    field(app, "text_input", ":data.scheduler").set_value("tls://host:8786").run()
    assert (stored()["data"]["engine"], stored()["data"]["scheduler"]) == ("dask", "tls://host:8786")
    field(app, "text_input", ":data.scheduler").set_value("host").run()
    assert "Dask scheduler" in words(app)
    assert stored()["data"]["scheduler"] is None
    field(app, "text_input", ":data.scheduler").set_value("tls://host:8786").run()
    field(app, "button_group", ":data.engine").set_value(None).run()
    assert (stored()["data"]["engine"], stored()["data"]["scheduler"]) == (None, None)


def test_reading_a_table_anew_keeps_who_counts_it(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"age;sex\n39;Male\n50;Female\n")
    table = project_table.from_path(str(tmp_path / "people.csv"), only_this_machine=True)
    data = table.section | {"engine": "dask", "scheduler": "tls://host:8786"}
    draft = {"data": data, "wizard": {"source": "path", "label": "people.csv"}}
    assert project_table.reread(draft, missing_markers=["?"]).section == data | {"missing_markers": ["?"]}


def test_what_is_typed_as_a_scheduler_is_an_address_or_nothing() -> None:
    assert view.address(" ") is None
    assert view.address(" tls://host:8786 ") == "tls://host:8786"
    for text in ("host:8786", "tls://me:secret@host:8786", "http://host"):
        refused(view.address, text, saying="not the address of a Dask scheduler")
