"""The check that an HTML page runs nothing and loads nothing, in any browser.

Parsers disagree about malformed pages, so that one parser's text is another's script. So the page must be written as ours are: every “<”
opens a tag of a strict form, in the very characters of the file. Then parsers cannot disagree, and the names of elements and attributes
decide. All versions of this program write such pages.
"""

from __future__ import annotations

import re

ELEMENTS = frozenset(
    (
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "dl", "dt",
        "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "div", "span", "section", "figure", "figcaption",
        "strong", "em", "b", "i", "code", "pre", "sub", "sup", "small", "br", "hr", "details", "summary", "svg", "g", "path",
        "rect", "line", "circle", "ellipse", "polyline", "polygon", "text", "tspan", "desc",
    )
)
"""Elements that run and load nothing by themselves."""

_TAG = re.compile(r"""</?([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z][\w:-]*(?:=(?:"[^"<>]*"|[\w.-]+))?)*)\s*/?>""")
_ATTRIBUTE = re.compile(r"""([a-zA-Z][\w:-]*)(?:=(?:"([^"<>]*)"|([\w.-]+)))?""")
_LINKING = frozenset(
    ("action", "background", "data", "formaction", "href", "ping", "poster", "src", "srcdoc", "srcset", "style", "xml:base")
)
_HARMLESS_META = frozenset(("content-security-policy", "content-type"))
_LOADING_STYLE = re.compile(r"@import|url\s*\(|image-set|expression|behavior|-moz-binding|src\s*:|\\", re.IGNORECASE)
_STYLE = re.compile(r"<style[^>]*>(.*?)</style", re.IGNORECASE | re.DOTALL)
_DOCTYPE = re.compile(r"\s*<!doctype html>", re.IGNORECASE)


def active_part(content: bytes) -> str:
    """Return the first part of an HTML page that could run or load something, in a few words.

    The text is "" if the page can only be read.
    """
    try:
        page = content.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes that are not text"
    if "\0" in page:
        return "bytes that are not text"
    page = page[doctype.end() :] if (doctype := _DOCTYPE.match(page)) else page
    position = page.find("<")
    while position >= 0:
        tag = _TAG.match(page, position)
        if tag is None:
            return f"{page[position : position + 20]!r}, which is not a plain tag"
        if problem := _of_tag(*tag.groups()):
            return problem
        position = page.find("<", tag.end())
    return next((f"a style sheet with {loading[0]!r}" for css in _STYLE.findall(page) if (loading := _LOADING_STYLE.search(css))), "")


def _of_tag(element: str, attributes: str) -> str:
    name, stated = element.lower(), {key.lower(): (quoted or bare).strip().lower() for key, quoted, bare in _ATTRIBUTE.findall(attributes)}
    if name not in ELEMENTS:
        return f"an element {name[:40]!r}"
    if name == "meta" and stated.get("http-equiv", "content-type") not in _HARMLESS_META:
        return f"a meta element {stated['http-equiv'][:40]!r}"
    for key, value in stated.items():
        if key.startswith("on") or ((key in _LINKING or key.startswith("xlink")) and not value.startswith("#")):
            return f"an attribute {key[:40]!r}"
    return ""
