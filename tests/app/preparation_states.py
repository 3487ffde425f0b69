"""States of the pages from Data to Mechanism, of the sidebar and of its dialogs whose text is kept in `snapshots/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpsynth_core.sources import demo
from dpsynth_core.store import dispatch, jobs, projects, recorded_views, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import document
from tests.app import test_linked_pages as linked_pages
from tests.app import test_preparation_pages as preparation
from tests.app.demo_project import COLUMNS, button, draft, field, finished_run, open_page, project, sealed, started
from tests.app.page_texts import State
from tests.app.test_public_table import census, with_public
from tests.app.test_published_tables import SEXES, given
from tests.app.test_wide_pages import wide
from tests.app.test_zeros import choose

STATES: dict[str, State] = {}

_ALL = demo.demo_domain()
_RARE = b"sex,eye\n" + b"x,x\n" * 60 + b"x,green\n" * 20 + b"?,x\n,\n"


def state(name: str) -> Callable[[State], State]:
    """Keep a function as the state of a page under the name of its snapshot."""

    def keep(opened: State) -> State:
        STATES[name] = opened
        return opened

    return keep


def _described(**fields: Any) -> str:
    """Return a project over four demo columns whose columns are listed on the Domain page."""
    ready = draft(**fields)
    ready["wizard"]["rows"] = [ColumnDraft.of(a).to_json() for a in demo.demo_domain().keep(COLUMNS)]
    return projects.create(LOCAL_OWNER, "Trial", ready).id


def _whole_demo(k: int, people: int | None, epsilon: float = 1.0, **fields: Any) -> str:
    """Return a project over all columns of the simulated people with the recommended mechanism."""
    budget = {"epsilon": epsilon, "delta": 1e-9, "certificate": 0.05}
    stated = {"domain": _ALL.to_json(), "workload": {"kind": "all", "k": k}, "budget": budget, "mechanism": document.new()["mechanism"]}
    made = draft(**stated | fields)
    made["wizard"] |= {"columns": list(_ALL.names), "people": people}
    return project(**made)


def _clicked(app: AppTest, keys: Iterable[str]) -> AppTest:
    for key in keys:
        app = app.button(key=key).click().run()
    return app


@state("data-empty")
def _(_: Path) -> AppTest:
    return preparation.first_visit()


@state("data-by-path")
def _(folder: Path) -> AppTest:
    app = field(preparation.first_visit(), "button_group", ":wizard.way").set_value("path").run()
    field(app, "text_input", ":wizard.path").set_value(str(folder / "no.csv")).run()
    return app.button(key="open_path").click().run()


@state("data-plan-first")
def _(_: Path) -> AppTest:
    app = field(preparation.first_visit(), "button_group", ":wizard.way").set_value("plan").run()
    field(app, "text_area", ":plan_lines").set_value("a\na\n").run()
    return app.button(key="plan_columns").click().run()


@state("data-planned-table-differs")
def _(_: Path) -> AppTest:
    app = preparation.planned("age\nhair\n")
    field(app, "button_group", ":wizard.way").set_value("upload").run()
    return app.file_uploader[0].set_value(("people.csv", preparation.CSV, "text/csv")).run()


@state("data-bad-file")
def _(_: Path) -> AppTest:
    return preparation.first_visit("unnamed.csv", b"People,,\nage,sex,eye\n4,5,6\n")


@state("data-csv")
def _(_: Path) -> AppTest:
    return preparation.first_visit("people.csv", preparation.CSV)


@state("data-csv-in-doubt")
def _(_: Path) -> AppTest:
    return preparation.first_visit("people.csv", preparation.WRITTEN.encode())


@state("data-csv-looked-at")
def _(_: Path) -> AppTest:
    app = preparation.first_visit("people.csv", preparation.CSV + b'1,"x\n')
    field(app, "toggle", ":survey").set_value(True).run()
    return field(app, "toggle", ":preview").set_value(True).run()


@state("data-several-rows")
def _(_: Path) -> AppTest:
    app = preparation.first_visit("people.csv", preparation.CSV.replace(b"eye", b"patient_id"))
    field(app, "radio", "Rows").set_value(True).run()
    field(app, "text_input", ":unit.max_rows_per_person").set_value("1").run()
    return field(app, "button_group", ":wizard.left_out").set_value("most").run()


@state("data-demo")
def _(_: Path) -> AppTest:
    return open_page("data", project())


@state("data-public-table")
def _(_: Path) -> AppTest:
    return open_page("data", with_public(project(), census()))


@state("data-public-table-differs")
def _(_: Path) -> AppTest:
    other = census().decode().replace("age,", "years,", 1).replace("female", "W").encode()
    return open_page("data", with_public(project(), other))


@state("data-linked")
def _(folder: Path) -> AppTest:
    app = open_page("data", linked_pages.linked(folder))
    return field(app, "toggle", ":keys").set_value(True).run()


@state("data-linked-refused")
def _(folder: Path) -> AppTest:
    return field(open_page("data", linked_pages.linked(folder)), "text_input", ":unit.max_rows_per_person").set_value("11").run()


@state("domain-locked")
def _(_: Path) -> AppTest:
    return preparation.first_visit().switch_page("pages/domain.py").run()


@state("domain-open")
def _(_: Path) -> AppTest:
    return preparation.upload_project()


@state("domain-learnt")
def _(_: Path) -> AppTest:
    return preparation.upload_project().button(key="learn_open").click().run()


@state("domain-pasted-refused")
def _(_: Path) -> AppTest:
    app = preparation.upload_project()
    field(app, "text_area", "Lines from a spreadsheet").set_value("nose\tlong\n").run()
    return app.button(key="take_pasted").click().run()


@state("domain-demo")
def _(_: Path) -> AppTest:
    return open_page("domain", _described())


@state("domain-demo-text")
def _(_: Path) -> AppTest:
    return field(open_page("domain", _described()), "radio", "Columns").set_value("sex").run()


@state("domain-compared")
def _(_: Path) -> AppTest:
    return preparation.compared(open_page("domain", preparation.domain_project(_RARE)))


@state("domain-not-compared")
def _(_: Path) -> AppTest:
    return preparation.declined(open_page("domain", preparation.domain_project(_RARE)))


@state("domain-compared-unlisted")
def _(_: Path) -> AppTest:
    return preparation.compared(open_page("domain", preparation.domain_project(_RARE, missing=False, other=False)))


@state("domain-nothing-fits")
def _(_: Path) -> AppTest:
    return open_page("domain", preparation.domain_project(b"sex,eye\nX,x\nX,x\nX,x\n"))


@state("domain-from-the-records")
def _(_: Path) -> AppTest:
    app = preparation.compared(open_page("domain", preparation.domain_project(_RARE)))
    return button(app, "Add green").click().run().run()


@state("domain-impossible")
def _(_: Path) -> AppTest:
    app = open_page("domain", _described())
    choose(app, "if", "sex", ["female"])
    choose(app, "then", "health", ["bad", "missing"])
    app.button(key="zeros_add").click().run()
    choose(app, "if", "sex", ["female", "male"])
    choose(app, "then", "region", list(demo.REGION))
    return app.button(key="zeros_add").click().run()


@state("domain-published-tables")
def _(_: Path) -> AppTest:
    return given(given(open_page("domain", _described()), SEXES), b"sex,count\nfemale,510\n", "Census")


@state("domain-linked")
def _(folder: Path) -> AppTest:
    return open_page("domain", linked_pages.linked(folder))


@state("workload-demo")
def _(_: Path) -> AppTest:
    return open_page("workload", project())


@state("workload-threshold")
def _(_: Path) -> AppTest:
    return open_page("workload", project(workload={"kind": "all", "k": 2, "threshold": 1}))


@state("workload-own")
def _(_: Path) -> AppTest:
    return open_page("workload", project(workload={"kind": "marginals", "marginals": [{"attributes": ["age", "sex"], "weight": 1.0}]}))


@state("workload-own-empty")
def _(_: Path) -> AppTest:
    return open_page("workload", wide(workload={"kind": "marginals", "marginals": []}))


@state("workload-wide")
def _(_: Path) -> AppTest:
    return open_page("workload", wide())


@state("workload-ranges")
def _(_: Path) -> AppTest:
    return open_page("workload", project()).radio[0].set_value("ranges").run()


@state("workload-refused")
def _(_: Path) -> AppTest:
    large = {"kind": "marginals", "marginals": [{"attributes": ["a", "b"], "weight": 1.0}]}
    made = draft(domain={"a": 50_000, "b": 50_000}, workload=large)
    made["wizard"]["columns"] = ["a", "b"]
    return open_page("workload", project(**made))


@state("workload-linked")
def _(folder: Path) -> AppTest:
    return open_page("workload", linked_pages.linked(folder))


@state("budget-demo")
def _(_: Path) -> AppTest:
    app = open_page("budget", _whole_demo(2, 50_000))
    app.session_state["budget_experts"] = True
    return app.run()


@state("budget-red")
def _(_: Path) -> AppTest:
    return open_page("budget", _whole_demo(2, 300))


@state("budget-refused")
def _(_: Path) -> AppTest:
    return field(open_page("budget", project()), "text_input", "ε").set_value("one").run()


@state("budget-large")
def _(_: Path) -> AppTest:
    return field(open_page("budget", project()), "text_input", "ε").set_value("11").run()


@state("budget-above-the-limit")
def _(_: Path) -> AppTest:
    small = draft(budget={"epsilon": 2.0, "delta": 1e-9})
    small["wizard"]["cap"] = {"epsilon": 1.0, "delta": 1e-9}
    return open_page("budget", project(**small))


@state("budget-criteria-and-models")
def _(_: Path) -> AppTest:
    criteria = [{"kind": "share", "of": {"sex": ["male"]}, "tolerance": 0.1}, {"importance": "must"}]
    return open_page("budget", project(criteria=criteria, models=[{"column": "sex"}]))


@state("budget-learning")
def _(_: Path) -> AppTest:
    return _clicked(preparation.upload_project(), ("learn_open", "no_comparison", "next_workload"))


@state("budget-linked")
def _(folder: Path) -> AppTest:
    return open_page("budget", linked_pages.linked(folder))


@state("mechanism-demo")
def _(_: Path) -> AppTest:
    return open_page("mechanism", _whole_demo(1, 50_000))


@state("mechanism-red")
def _(_: Path) -> AppTest:
    return open_page("mechanism", _whole_demo(2, 300))


@state("mechanism-people-unknown")
def _(_: Path) -> AppTest:
    return open_page("mechanism", _whole_demo(2, None)).button(key="change_mechanism").click().run()


@state("mechanism-leaks")
def _(_: Path) -> AppTest:
    finished_run(project())
    place = project(domain_origin="data", domain_justification="all values are public since 1990")
    recorded_views.record(LOCAL_OWNER, place, "truth")
    return open_page("mechanism", with_public(place, census()))


@state("mechanism-cards")
def _(_: Path) -> AppTest:
    return open_page("mechanism", project()).button(key="change_mechanism").click().run()


@state("mechanism-cards-answers")
def _(_: Path) -> AppTest:
    return cards("answers")


@state("mechanism-cards-public")
def _(_: Path) -> AppTest:
    return cards("public")


def cards(group: str) -> AppTest:
    app = open_page("mechanism", project()).button(key="change_mechanism").click().run()
    return app.button_group(key="mechanism_wanted").set_value(group).run()


@state("mechanism-does-not-fit")
def _(_: Path) -> AppTest:
    wide = {"a": 50_000, "b": 3}
    refused = draft(domain=wide, mechanism={"name": "aim", "settings": {"max_size_mb": 0.1}})
    refused["wizard"]["columns"] = list(wide)
    return open_page("mechanism", project(**refused))


@state("mechanism-no-table")
def _(_: Path) -> AppTest:
    return _clicked(preparation.planned(), ("next_data", "next_domain", "next_workload", "next_budget"))


@state("mechanism-dialog")
def _(_: Path) -> AppTest:
    return button(open_page("mechanism", project()), "Lock").click().run()


@state("mechanism-waiting")
def _(_: Path) -> AppTest:
    place = project()
    runs.submit(LOCAL_OWNER, place, sealed(place))
    return open_page("mechanism", place)


@state("mechanism-under-way")
def _(_: Path) -> AppTest:
    place = project()
    measured = {"kind": "measured", "round": 0, "attributes": ["age"], "sigma": 9.0, "rho_spent": 0.001, "done": 0.3, "message": ""}
    dispatch.record(started(place), measured)
    return button(open_page("mechanism", place), "Cancel").click().run()


@state("mechanism-failed")
def _(_: Path) -> AppTest:
    return _ended("failed")


@state("mechanism-lost")
def _(_: Path) -> AppTest:
    return _ended("lost")


@state("mechanism-cancelled")
def _(_: Path) -> AppTest:
    return _ended("cancelled")


@state("mechanism-done")
def _(_: Path) -> AppTest:
    place = project()
    finished_run(place)
    return open_page("mechanism", place)


@state("mechanism-changed-since")
def _(_: Path) -> AppTest:
    place = project()
    finished_run(place)
    before = projects.load(LOCAL_OWNER, place).draft
    changed = {**before, "budget": {**before["budget"], "epsilon": 2.0}, "workload": {"kind": "all", "k": 1}}
    projects.save(LOCAL_OWNER, place, changed)
    return open_page("mechanism", place)


def _ended(how: str) -> AppTest:
    place = project()
    run = started(place)
    jobs.give(run, 0, how, "Its worker ran into trouble.")
    dispatch.leave(run)
    return open_page("mechanism", place)


@state("mechanism-linked")
def _(folder: Path) -> AppTest:
    return open_page("mechanism", linked_pages.linked(folder))


@state("sidebar-new")
def _(_: Path) -> AppTest:
    return preparation.first_visit().button(key="project_new").click().run()


@state("sidebar-copy")
def _(_: Path) -> AppTest:
    return open_page("budget", project()).button(key="project_copy").click().run()


@state("sidebar-rename")
def _(_: Path) -> AppTest:
    return open_page("budget", project()).button(key="project_rename").click().run()


@state("sidebar-delete")
def _(_: Path) -> AppTest:
    return open_page("budget", project()).button(key="project_delete").click().run()
