"""That something is refused: with an error of the program's own, which says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from dpsynth_core.foundation.errors import InputError

Error = TypeVar("Error", bound=Exception)


def refused(call: Callable[..., object], /, *given: Any, kind: type[Error] = InputError, saying: str | None = None, **named: Any) -> Error:  # type: ignore[assignment]
    """The error that such a call ends with. kind: of it. saying: a pattern that its text has."""
    with pytest.raises(kind, match=saying) as caught:
        call(*given, **named)
    return caught.value
