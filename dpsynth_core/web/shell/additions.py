"""Pages and parts of pages that extensions draw, at the places that a page has for them."""

from __future__ import annotations

from typing import Any

from dpsynth_core.foundation import extension


def draw(place: str, subject: Any) -> None:
    """Draw what extensions have for a place of a page, in the order of the extensions.

    Args:
        place: One of `extension.PLACES`.
        subject: What the place is about: the project, or the open run.
    """
    for path in extension.views(place):
        extension.load(path)(subject)


def page(name: str) -> None:
    """Draw a page of an extension, which is in the navigation only where the extension is there.

    Args:
        name: Name of the page.
    """
    for one in extension.pages():
        if one.name == name:
            extension.load(one.draw)()
