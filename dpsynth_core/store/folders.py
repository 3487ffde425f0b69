"""Identifiers of projects and runs, and the folders of their files."""

from __future__ import annotations

import secrets
from pathlib import Path

from dpsynth_core.store.home import home


def new_id() -> str:
    """Return an unguessable identifier for a project or run; safe as a file name."""
    return secrets.token_hex(8)


def project_folder(project: str) -> Path:
    """Return the folder of a project's files. `project` is an id made here, never a name."""
    return home() / "projects" / project


def run_folder(project: str, run: str) -> Path:
    """Return the folder of a run's release."""
    return project_folder(project) / "runs" / run
