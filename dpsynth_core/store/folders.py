"""Identifiers of projects and runs, and the folders of their files."""

from __future__ import annotations

import secrets
from pathlib import Path

from dpsynth_core.store.home import home


def new_id() -> str:
    """Return a random identifier for a project or run: 16 hexadecimal digits, which cannot be guessed and are safe in a file name."""
    return secrets.token_hex(8)


def project_folder(project: str) -> Path:
    """Return the path of the folder of a project's files, whether it exists or not. `project` is an id made here, never a name."""
    return home() / "projects" / project


def run_folder(project: str, run: str) -> Path:
    """Return the path of the folder of a run's release, whether it exists or not, by the ids of project and run."""
    return project_folder(project) / "runs" / run
