"""The number of digits with which means are written, and their rounding.

Report, notebook and explore.html write the same digits: the script of explore.html rounds alike.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_LOST = 1e-7
_MOST = 9


def digits(values: NDArray[np.float64]) -> int:
    """Return the number of digits after the point with which means of a column are written, from 0 to 9.

    The largest absolute cell value then has at least four significant digits, unless it takes more than 9. The number is
    2 without a value other than 0. Values that are not finite are ignored.

    Args:
        values: The number that represents each cell; NaN for a cell without one.
    """
    largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    return 2 if largest == 0 else max(0, min(_MOST, 3 - math.floor(math.log10(largest))))


def rounded(value: float, places: int) -> str:
    """Return a finite number as text with `places` digits after the point, and a comma for each thousand.

    Halves are rounded away from zero, exactly as the script of explore.html rounds, and so is what is less than a
    half by up to 1e-7 of the last digit, as floating-point numbers may lose that much. A number that is rounded
    to 0 has no minus sign.
    """
    scaled = math.floor(abs(value) * 10**places + 0.5 + _LOST)
    whole, rest = divmod(scaled, 10**places)
    return ("-" if value < 0 and scaled else "") + f"{whole:,}" + (f".{rest:0{places}d}" if places else "")
