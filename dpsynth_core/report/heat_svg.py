"""Heat maps of the report as SVG: tables of shares of their lines. Texts are escaped."""

from __future__ import annotations

import math

from dpsynth_core.foundation.visible import shortened
from dpsynth_core.report.section import HeatMap
from dpsynth_core.report.svg import drawn, escape, written

_SHADES = ((0.5, "50% or more"), (0.25, "25% to 50%"), (0.1, "10% to 25%"), (0.03, "3% to 10%"), (0.0, "less than 3%"))
"""The least share of each shade, the strongest first, and what the legend says."""


def heat_map(one: HeatMap) -> str:
    """Return a heat map as SVG. Each square has its share in per cent, so that colour is not the only sign."""
    down, across = [shortened(name, 24) for name in one.down], [shortened(name, 18) for name in one.across]
    side, left, top = 34, 24 + 7 * max(map(len, down)), 20 + 6 * max(map(len, across))
    parts = []
    for i, name in enumerate(across):
        x = left + side * (i + 0.5)
        parts.append(f'<text transform="translate({x + 4:.1f} {top - 6}) rotate(-60)">{escape(name)}</text>')
    for j, (name, shares) in enumerate(zip(one.down, one.shares, strict=True)):
        y = top + side * j
        parts.append(written(left - 6, y + side / 2 + 4, down[j], "end"))
        for i, (other, share) in enumerate(zip(one.across, shares, strict=True)):
            known = not math.isnan(share)
            shade = f"shade{next(n for n, (least, _) in enumerate(_SHADES) if share >= least)}" if known else "unknown"
            x, told = left + side * i, f"{share:.0%}" if known else "nobody"
            title = f"<title>{escape(name)}, then {escape(other)}: {told}</title>"
            parts.append(f'<rect class="{shade}" x="{x}" y="{y}" width="{side - 1}" height="{side - 1}">{title}</rect>')
            if known and share >= _SHADES[-2][0]:
                colour = 'fill="var(--paper)" stroke="none"' if share >= _SHADES[1][0] else 'stroke="none"'
                number = f"<tspan {colour}>{100 * share:.0f}</tspan>"
                parts.append(f'<text x="{x + side / 2 - 0.5}" y="{y + side / 2 + 4}" text-anchor="middle">{number}</text>')
    x = left + side * len(one.across) + 24
    for place, (_, words) in enumerate(_SHADES):
        parts.append(f'<rect class="shade{place}" x="{x}" y="{top + 22 * place}" width="14" height="14"/>')
        parts.append(written(x + 20, top + 22 * place + 11, words))
    height = top + max(side * len(one.down), 22 * len(_SHADES)) + 8
    return drawn(x + 110, height, f"{one.title}: the stronger the colour, the larger the share of its line.", parts)
