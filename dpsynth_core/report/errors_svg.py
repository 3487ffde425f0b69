"""Pictures of the report: errors beside AIM's bounds and the baselines, as SVG. Every mark is explained in a legend.

`evaluation.quality.marginal_table` returns the frames. Marks differ by shape, and by being filled or hollow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dpsynth_core.evaluation.against_bounds import AGAINST, SERIES, SHARPENED, against, known, reach
from dpsynth_core.evaluation.quality import SUPPORT
from dpsynth_core.foundation.visible import shortened
from dpsynth_core.report.svg import drawn, escape, written
from dpsynth_core.statistics.distances import percent

if TYPE_CHECKING:
    import pandas as pd

_TABLES, _POINTS = 10, 500
_WIDTH, _ROW, _SIGN = 560, 50, 46
_LEFT, _SIDE, _HEIGHT, _BOTTOM = 60, 440, 280, 314
"""Of the scatter."""
_STEPS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_MARKS = {
    "independent": ("cross", "M-4,-4L4,4M4,-4L-4,4", "×"),
    "residuals": ("filled", "M-4,-4H4V4H-4Z", "■"),
    "gaussian": ("hollow", "M-4,-4H4V4H-4Z", "□"),
    "paper": ("hollow ours", "M-6,0L3,-5V5Z", "◁"),
    "bound": ("filled ours", "M-6,0L3,-5V5Z", "◀"),
    "error": ("filled ours", "M-5,0A5,5 0 1 1 5,0A5,5 0 1 1 -5,0Z", "●"),
}
"""By column: style and path of its mark, and its sign in a text. The last lie on top."""
_LANES = {"bound": -8, "paper": -8, "gaussian": 8, "residuals": 8, "independent": 8}
"""Bounds stand above the error and baselines below it, so that they hide neither it nor each other."""
_KINDS = dict(zip(SUPPORT, (_MARKS["error"], ("hollow", "M0,-5L5,4H-5Z", "△"), _MARKS["independent"]), strict=True))


def against_bounds(table: pd.DataFrame) -> str:
    """Draw the first ten tables of `quality.marginal_table` with a known bound as SVG.

    Each table has a bar from the lower to the upper bound of its error, the best estimate, AIM's
    bounds and the errors of the baselines.

    Args:
        table: The frame of `quality.marginal_table`, the largest error first.
    """
    worst = table[table["limit"].notna()].head(_TABLES)
    names, end = [name for name in SERIES if name in _MARKS and known(worst, name)], reach(worst)
    beyond = int((worst[names] > end).sum(axis=1).max()) if len(worst) else 0
    per, top = (_WIDTH - 12 - _SIGN * beyond) / end, 26 + 20 * math.ceil(len(names) / 2)
    parts, bottom = _legend([(_MARKS[name], SERIES[name]) for name in names]), top + _ROW * len(worst)
    for tick in _ticks(end):
        x = 6 + per * tick
        parts += [
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>',
            _tick(x, top - 6, tick, "start" if tick == 0 else "middle"),
        ]
    row: Any
    for number, row in enumerate(worst.itertuples()):
        parts += _table(row, names, top + _ROW * number, per, end)
    description = f"Errors of the {len(worst)} tables that may be furthest off; their errors are in the list below."
    return drawn(_WIDTH, bottom + 4, description, parts)


def bound_against_error(table: pd.DataFrame) -> str:
    """Draw AIM's bound of each table against its error as SVG, one point for each of the first 500 tables.

    Without a certificate, the horizontal axis shows the expected error of noisy answers instead.

    Args:
        table: The frame of `quality.marginal_table`, with a column that `against` can compare
            bounds with.
    """
    other = against(table) or "error"
    frame = table[table[other].notna() & table["bound"].notna()].head(_POINTS)
    kinds = [kind for kind in SUPPORT if kind in set(frame["support"])]
    right = max(0.01, 1.05 * float(frame[[other, "limit"] if other == "error" else [other]].max().max()))
    up = max(right, 1.05 * float(frame["bound"].max()))
    across, down = _SIDE / right, _HEIGHT / up
    corner = f"{_LEFT + _SIDE},{_BOTTOM - down * right:.1f}"
    parts = _legend([(_KINDS[kind], kind) for kind in kinds])
    parts.append(f'<polygon class="area" points="{_LEFT},{_BOTTOM} {_LEFT + _SIDE},{_BOTTOM} {corner}"/>')
    parts += [_tick(_LEFT + across * tick, _BOTTOM + 16, tick) for tick in _ticks(right)]
    for tick in _ticks(up):
        y = _BOTTOM - down * tick
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + _SIDE}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_tick(_LEFT - 6, y + 4, tick, "end"))
    parts.append(f'<polyline class="chance" points="{_LEFT},{_BOTTOM} {corner}"/>')
    point: Any
    for point in frame.assign(x=frame[other]).itertuples():
        told = f"{point.marginal}: {AGAINST[other]} {percent(point.x)}, {SHARPENED} {percent(point.bound)}"
        y, ends = _BOTTOM - down * point.bound, (point.low, point.limit) if other == "error" else (point.x, point.x)
        x1, x2 = (_LEFT + across * end for end in ends)
        mark = _mark(_KINDS[point.support], _LEFT + across * point.x, y)
        line = f'<line class="doubt" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        parts.append(f"<g><title>{escape(told)}</title>{line}{mark}</g>")
    parts.append(written(_LEFT + _SIDE / 2, _BOTTOM + 34, AGAINST[other], "middle"))
    parts.append(f'<text transform="translate(13 {_BOTTOM - _HEIGHT / 2}) rotate(-90)" text-anchor="middle">{escape(SHARPENED)}</text>')
    return drawn(_LEFT + _SIDE + 24, _BOTTOM + 42, f"{SHARPENED} over {AGAINST[other]}, of {len(frame)} tables.", parts)


def _table(row: Any, names: list[str], top: float, per: float, end: float) -> list[str]:
    """Return the SVG elements of one table: its name and numbers, and its marks below them.

    Args:
        row: The table's row of `quality.marginal_table`.
        names: The columns whose marks are drawn.
        top: Upper end of the table's area, in pixels.
        per: Pixels per unit of error.
        end: The largest error on the scale; larger ones are written as numbers at the right edge.
    """
    y, low = top + 32, 0.0 if math.isnan(row.low) else row.low
    shares = {name: getattr(row, name) for name in names}
    beyond = [f"{_MARKS[name][2]} {share:.0%}" for name, share in shares.items() if share > end]
    about = "" if math.isnan(row.error) else f"about {percent(row.error)}, "
    parts = [f"<g><title>{escape(row.marginal)}: at most {percent(row.limit)}</title>"]
    parts.append(written(6, top + 15, shortened(row.marginal, 52)))
    parts.append(written(_WIDTH - 6, top + 15, f"{about}at most {percent(row.limit)}", "end"))
    parts.append(f'<rect class="span" x="{6 + per * low:.1f}" y="{y - 4}" width="{per * (row.limit - low):.1f}" height="8"/>')
    if not math.isnan(alone := shares.get("independent", math.nan)) and (least := max(0.0, alone - row.limit)) < end:
        x1, x2, lane = 6 + per * least, 6 + per * min(end, alone + row.limit), y + _LANES["independent"]
        parts.append(f'<line class="doubt base" x1="{x1:.1f}" x2="{x2:.1f}" y1="{lane}" y2="{lane}"/>')
    near = (name for name in _MARKS if name in shares and shares[name] <= end)
    parts += [_mark(_MARKS[name], 6 + per * shares[name], y + _LANES.get(name, 0)) for name in near]
    return [*parts, *([written(_WIDTH - 6, y + 4, "  ".join(beyond), "end")] if beyond else []), "</g>"]


def _legend(marks: list[tuple[tuple[str, str, str], str]]) -> list[str]:
    """Return the SVG elements of a legend in two columns.

    Args:
        marks: Pairs of a mark (style, path, sign) and its words, which are escaped here.
    """
    parts = []
    for number, (mark, words) in enumerate(marks):
        x, y = 12 + _WIDTH / 2 * (number % 2), 10 + 20 * (number // 2)
        parts += [_mark(mark, x, y), written(x + 12, y + 4, words)]
    return parts


def _mark(mark: tuple[str, str, str], x: float, y: float) -> str:
    return f'<path class="{mark[0]}" transform="translate({x:.1f} {y:.1f})" d="{mark[1]}"/>'


def _tick(x: float, y: float, share: float, anchor: str = "middle") -> str:
    return written(x, y, f"{round(100 * share, 1):g}%", anchor)


def _ticks(end: float) -> list[float]:
    """Return round shares from 0 to the end of a scale, at most seven."""
    step = next((step for step in _STEPS if end <= 6 * step), _STEPS[-1])
    return [step * i for i in range(int(end / step + 1e-9) + 1)]
