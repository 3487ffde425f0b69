"""Where what lies around this package is: app.py, pages, assets. In a checkout beside it, in a wheel inside it, as `studio`."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
AROUND = _PACKAGE / "studio" if (_PACKAGE / "studio").is_dir() else _PACKAGE.parent
APP = AROUND / "app.py"
ASSETS = AROUND / "assets"
