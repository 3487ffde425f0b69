from __future__ import annotations

from dpsynth_core.web import frame

frame.require("budget")
frame.header("budget", "")
frame.nav("budget")
