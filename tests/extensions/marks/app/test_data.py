"""The Data page warns of a table that says that it is synthetic, and of no other one."""

from __future__ import annotations

import pytest

from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import document
from tests.app.demo_project import open_page, words
from tests.extensions.marks.test_recognition import WARNING
from tests.extensions.marks.test_sidecar import ROWS, SMALL
from tests.row_files import row_file


@pytest.mark.parametrize(("name", "file"), [("marked-csv", "a.csv"), ("parquet", "a.parquet"), ("csv", "b.csv")])
def test_an_uploaded_file_that_says_so_is_warned_about(name: str, file: str) -> None:
    app = open_page("data", projects.create(LOCAL_OWNER, "Trial", document.new()).id)
    app.file_uploader[0].set_value((file, row_file(name, ROWS, SMALL), "text/csv")).run()
    assert not app.exception
    assert (WARNING in words(app)) == (name != "csv")
