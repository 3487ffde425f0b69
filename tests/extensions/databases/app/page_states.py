"""States of the Data page with a table of a database. For `tests/app/test_page_texts.py`."""

from __future__ import annotations

from pathlib import Path

import duckdb
from streamlit.testing.v1 import AppTest

from tests.app.demo_project import field
from tests.app.page_texts import State
from tests.extensions.databases.app.test_databases import connected


def _database(folder: Path) -> AppTest:
    path = str(folder / "people.duckdb")
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE people AS SELECT i % 80 AS age, i % 3 = 0 AS member FROM range(600) r(i)")
    return connected(path)


def _chosen(folder: Path) -> AppTest:
    app = _database(folder)
    field(app, "selectbox", ".table").select("people").run()
    return app


def _taken(folder: Path) -> AppTest:
    return _chosen(folder).button(key="use_database").click().run()


def _refused(folder: Path) -> AppTest:
    app = field(_database(folder), "button_group", "What is counted?").set_value("query").run()
    field(app, "text_area", "One SELECT").set_value("DROP TABLE people").run()
    return app.button(key="use_database").click().run()


STATES: dict[str, State] = {"data-database": _chosen, "data-database-taken": _taken, "data-database-query-refused": _refused}
SNAPSHOTS = Path(__file__).with_name("snapshots")
