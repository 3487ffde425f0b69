"""That something is refused: with an InputError, which says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpsynth_core.foundation.errors import InputError


def refused(call: Callable[..., object], /, *given: Any, saying: str | None = None, **named: Any) -> InputError:
    """The error that such a call ends with. saying: a pattern that its text has."""
    with pytest.raises(InputError, match=saying) as caught:
        call(*given, **named)
    return caught.value
