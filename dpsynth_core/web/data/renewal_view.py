"""Next year: begin with the plan of a release, from its bundle or its spec. No record is read; the table is chosen afterwards."""

from __future__ import annotations

from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core.bundle import unpack
from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import projects
from dpsynth_core.web.data import data_view
from dpsynth_core.web.shell import fields, plan_first, refusals, session
from dpsynth_core.web.shell.document import Draft

_HELP = (
    "Its columns and values, tables, budget, conditions and mechanism become the plan of this project, for the same people. What changed "
    "is said when the new table is chosen; what is left of the budget stands below."
)
_MOST_BYTES = 2**31
"""Of a bundle's files, unpacked."""


def last_release() -> None:
    fields.file("Next year: last year's release.zip, or its plan (JSON)", ("zip", "json"), "plan_release", _take, _HELP)


def _take(file: UploadedFile) -> None:
    def act() -> None:
        spec = _spec(file.name, file.getvalue())
        session.check_idle("data")
        project = session.current()
        projects.remove_uploads(project.owner, project.id)

        def change(draft: Draft) -> None:
            draft.clear()
            draft.update(plan_first.of_release(spec))

        session.edit(change)

    refusals.attempt(data_view.TABLE, act)


def _spec(name: str, content: bytes) -> Spec:
    """Raises InputError."""
    if name.endswith(".zip"):
        return unpack.plan_of(unpack.read_bytes(content, _MOST_BYTES)).spec
    try:
        return Spec.from_json(parse_json(content.decode("utf-8"), "spec"))
    except UnicodeDecodeError:
        raise InputError("spec", "it is not UTF-8", "take the spec.json of a release") from None
