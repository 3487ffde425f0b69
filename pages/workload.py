from __future__ import annotations

from dpsynth_core.web import frame

frame.require("workload")
frame.header("workload", "")
frame.nav("workload")
