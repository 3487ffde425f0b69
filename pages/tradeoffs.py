"""Trade-offs: mechanisms and values of epsilon tried on a table that costs nothing, before anything is spent."""

from __future__ import annotations

from dpsynth_core.web.shell import additions

additions.page("tradeoffs")
