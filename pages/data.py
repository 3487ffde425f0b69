from __future__ import annotations

from dpsynth_core.web import frame

frame.require("data")
frame.header("data", "")
frame.nav("data")
