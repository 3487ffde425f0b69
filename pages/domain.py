from __future__ import annotations

from dpsynth_core.web import frame

frame.require("domain")
frame.header("domain", "")
frame.nav("domain")
