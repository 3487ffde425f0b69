"""Parameters of a mechanism: their ranges, defaults and help texts."""

from __future__ import annotations

from dataclasses import dataclass

Setting = float | int | bool | str
"""The value of a parameter."""


@dataclass(frozen=True)
class Parameter:
    """One knob of a mechanism, with a data-independent default."""

    name: str
    kind: str  # "int" | "float" | "bool" | "choice" (one of `options`) | "column" (of the domain, or "")
    default: Setting
    low: float
    high: float
    help: str
    options: tuple[str, ...] = ()

    @classmethod
    def choice(cls, name: str, options: tuple[str, ...], help: str) -> Parameter:
        """One of several words, by default the first."""
        return cls(name, "choice", options[0], 0, 0, help, options)

    @classmethod
    def column(cls, name: str, help: str) -> Parameter:
        """A column of the domain, by default none."""
        return cls(name, "column", "", 0, 0, help)
