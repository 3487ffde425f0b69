"""Identifiers of projects and runs, and the folders of their files."""

from __future__ import annotations

import secrets
from pathlib import Path

from dpsynth_core.store.home import home


def new_id() -> str:
    """Return a random identifier for a project or run: 16 hexadecimal digits, which cannot be guessed and are safe in a file name."""
    return secrets.token_hex(8)


def project_folder(project: str) -> Path:
    """Return the folder of a project's files. `project` is an id made here, never a name."""
    return home() / "projects" / project


def run_folder(project: str, run: str) -> Path:
    """Return the folder of a run's release."""
    return project_folder(project) / "runs" / run
