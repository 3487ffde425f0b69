"""Paths of the files around this package: app.py, pages, assets. A checkout has them beside the package, a wheel inside it, as `studio`."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
AROUND = _PACKAGE / "studio" if (_PACKAGE / "studio").is_dir() else _PACKAGE.parent
APP = AROUND / "app.py"
ASSETS = AROUND / "assets"
