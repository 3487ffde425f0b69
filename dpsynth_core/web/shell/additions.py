"""Pages and parts of pages that extensions draw, at the places that a page has for them."""

from __future__ import annotations

from typing import Any

from dpsynth_core.foundation import extension


def draw(place: str, subject: Any) -> None:
    """Draw what extensions have for a place of a page, in the order of the extensions; without any, draw nothing.

    Args:
        place: One of `extension.PLACES`.
        subject: The argument of the extensions' functions: the open run for "results" and "downloads", a pair of
            the open project and the name of the page for "sidebar", and the open project for all other places.
    """
    for path in extension.views(place):
        extension.load(path)(subject)


def page(name: str) -> None:
    """Draw a page of an extension; nothing if no extension has a page of this name.

    Args:
        name: Name of the page.
    """
    for one in extension.pages():
        if one.name == name:
            extension.load(one.draw)()
