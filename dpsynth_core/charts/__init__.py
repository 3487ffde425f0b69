"""Every chart of the app, drawn with Altair from zone-tagged frames; curator-only ones carry a watermark."""

from __future__ import annotations

from dpsynth_core.charts.plan import coverage, split, tradeoff

__all__ = ["coverage", "split", "tradeoff"]
