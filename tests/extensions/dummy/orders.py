"""Orders for dummy rows that several tests use."""

from __future__ import annotations

from typing import Any

from dpsynth_core.extensions.dummy.order import Order

DOMAIN: dict[str, Any] = {
    "version": 1,
    "origin": "codebook",
    "attributes": [
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 10, "other": False, "missing": True},
        {
            **{"name": "health", "kind": "ordinal", "categories": ["1", "2", "3", "-8"], "dtype": "int64"},
            **{"labels": ["good", "fair", "bad", "refused"], "other": False, "missing": True},
        },
        {"name": "job", "kind": "categorical", "categories": ["yes", "no"], "other": False, "missing": False},
        {"name": "hours", "kind": "numeric", "lower": 0, "upper": 60, "bins": 6, "decimals": 1, "other": False, "missing": True},
        {"name": "in", "kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "month", "other": False, "missing": False},
        {"name": "out", "kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "month", "other": False, "missing": True},
    ],
    "impossible": [{"if": {"job": ["no"]}, "then": {"hours": ["missing"]}}, {"column": "in", "at_most": "out"}],
}
"""Kinds, a user-missing code with a cell of its own (-8), a skip pattern and an order of dates."""
MEMBERS: dict[str, Any] = {
    "version": 1,
    "attributes": [
        {"name": "role", "kind": "categorical", "categories": ["head", "partner", "child"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 10, "other": False, "missing": False},
    ],
}
HOMES: dict[str, Any] = {
    "version": 1,
    "attributes": [{"name": "dwelling", "kind": "categorical", "categories": ["flat", "house"], "other": False, "missing": False}],
}
RULES: list[dict[str, Any]] = [
    {"members_with": {"role": ["head"]}, "exactly": 1},
    {"members_with": {"role": ["partner"]}, "at_most": 1},
    {"never": {"role": ["head"], "age": ["0 to 9"]}},
]
LINKED: dict[str, Any] = {"domain": HOMES, "members": {"domain": MEMBERS, "key": "home", "most": 4, "rules": RULES}}
AGES = [[f"{low} to {low + 9}", 10 * (10 - low // 10)] for low in range(0, 100, 10)]
PUBLISHED = [{"columns": ["age"], "cells": AGES, "source": "Census 2021"}]


def order(rows: int = 200, seed: int = 1, **parts: Any) -> Order:
    return Order.of({"domain": DOMAIN, "rows": rows, "seed": seed} | parts)


def linked(rows: int = 200, seed: int = 1) -> Order:
    return Order.of(LINKED | {"rows": rows, "seed": seed})
