"""Changes: what changed between two releases of a table, beyond the noise of both."""

from __future__ import annotations

from dpsynth_core.web.shell import additions

additions.page("changes")
