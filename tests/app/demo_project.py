"""A project over the simulated people, ready to run or with a finished run, and the app opened at a page of it."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
from streamlit.testing.v1 import AppTest

from dpsynth_core.mechanisms.registry import PURPOSES
from dpsynth_core.sources import demo
from dpsynth_core.store import dispatch, jobs, projects, runs, worker
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.runs import Run
from dpsynth_core.web.shell import document, steps
from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ("age", "sex", "region", "health")
FIRST = steps.STEPS[0].name
PASSED = ["data", "domain", "workload", "budget"]


def draft(**fields: Any) -> dict[str, Any]:
    """A complete draft over four demo columns with the fastest mechanism; keyword arguments replace whole fields."""
    domain = demo.demo_domain().keep(COLUMNS)
    ready = document.new() | {
        "population": "Invented people",
        "data": {"path": "", "kind": "demo"},
        "domain": domain.to_json(),
        "domain_origin": "codebook",
        "workload": {"kind": "all", "k": 2},
        "mechanism": {"name": "independent", "settings": {}},
        "output": {"rows": None, "seed": None},
    }
    ready["wizard"] |= {"passed": list(PASSED), "source": "demo", "label": "demo", "columns": list(COLUMNS), "people": 50_000}
    return ready | fields


def project(**fields: Any) -> str:
    """Store such a draft as the user's newest project; its id."""
    return projects.create(LOCAL_OWNER, "Trial", draft(**fields)).id


def hostile_project(names: Sequence[str], **stated: Any) -> str:
    """A project, ready to run, over an uploaded table whose columns and values have these names, which try to be something else. stated:
    further fields of its draft."""
    table = pd.DataFrame({name: [*names] * 200 for name in names})
    listed = {"kind": "categorical", "categories": list(names), "other": False, "missing": False}
    domain = {"version": 1, "attributes": [{"name": name, **listed} for name in names]}
    fields = draft(domain=domain, **stated)
    fields["wizard"] |= {"columns": list(names), "source": "upload", "label": names[0]}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "people.csv", io.BytesIO(table.to_csv(index=False).encode()))
    projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), "kind": "csv"}})
    return place


def sealed(project_id: str) -> document.Spec:
    """The spec of the project's draft, as a run seals it."""
    return document.spec(projects.load(LOCAL_OWNER, project_id).draft, "Trial", ())


def started(project_id: str) -> str:
    """A run whose worker (this process) has opened the records."""
    run = runs.submit(LOCAL_OWNER, project_id, sealed(project_id))
    dispatch.claim(run)
    dispatch.take(run)
    jobs.touch(run)
    return run


def finished_run(project_id: str, name: str = "Trial") -> Run:
    """Run the project's draft to its end as a worker does, but in this process, which has long loaded what a worker would load first."""
    spec = document.spec(projects.load(LOCAL_OWNER, project_id).draft, name)
    with patch.object(dispatch, "launch_worker", lambda *_: None):
        run = runs.submit(LOCAL_OWNER, project_id, spec)
        worker.work(dispatch.claim(run))
    return runs.get(LOCAL_OWNER, run)


def open_page(name: str, project_id: str, **parameters: str) -> AppTest:
    """The app, as a browser sees it after opening /<name>?project=<id>, with more parameters of the address."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    app.query_params["project"] = project_id
    if name != FIRST:  # which is the wizard's own address
        app.switch_page(f"pages/{name}.py")
    for parameter, value in parameters.items():
        app.query_params[parameter] = value
    return app.run()


def card_groups() -> list[str]:
    """The keys of the groups of cards: a purpose each, but for those of research, which share the last."""
    return [one.name for one in PURPOSES if not one.research] + ["research"] * any(one.research for one in PURPOSES)


def every_card(place: str) -> str:
    """All text on the Mechanism page with the cards of every mechanism opened, one group after the other."""
    app = open_page("mechanism", place).button(key="change_mechanism").click().run()
    groups = app.button_group(key="mechanism_wanted").options
    texts = []
    for group in card_groups():
        app = app.button_group(key="mechanism_wanted").set_value(group).run()
        texts.append(words(app))
    assert len(texts) == len(groups)
    return "\n".join(texts)


def words(app: AppTest) -> str:
    """All text on the page outside of tables and charts."""
    kinds = ("title", "subheader", "markdown", "caption", "success", "warning", "error", "info")
    return "\n".join(str(element.value) for kind in kinds for element in app.get(kind))


def stored(place: str | None = None) -> document.Draft:
    """The draft of the project as it is kept, or of the only one."""
    return dict((projects.list(LOCAL_OWNER)[0] if place is None else projects.load(LOCAL_OWNER, place)).draft)


def field(app: AppTest, kind: str, name: str) -> Any:
    """Return the first element of a kind whose key ends with `name`, or whose label begins with it."""
    key = re.compile(rf"{re.escape(name)}(:\d+)?$")  # a widget whose value was set anew has a number behind its key
    elements = [element for element in app.get(kind) if key.search(str(element.key)) or element.label.startswith(name)]
    assert elements, f"no {kind} {name!r} among {[(element.key, element.label) for element in app.get(kind)]}"
    return elements[0]


def button(app: AppTest, label: str) -> Any:
    """The first one whose label has these letters."""
    return next(one for one in app.button if label in one.label)
