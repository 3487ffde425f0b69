"""The site that `make docs` builds: no warning, nothing from elsewhere, no link into the void."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.site import built

LOADED = {**dict.fromkeys(("script", "img", "iframe", "source", "video"), "src"), "object": "data", "link": "href", "form": "action"}
"""What a browser fetches by itself, or sends to, by element."""
ELSEWHERE = re.compile(r"(https?:)?//", flags=re.IGNORECASE)


class Page(HTMLParser):
    """What a page loads, what it links to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.loads += [values[name] for name in (LOADED.get(tag),) if name in values]
        self.links += [values["href"]] if tag == "a" and "href" in values else []
        self.anchors |= {values[name] for name in ("id", "name") if name in values}


def from_elsewhere(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*.html"):
        yield from (f"{path.name} loads {one}" for one in Page(path.read_text(encoding="utf-8")).loads if ELSEWHERE.match(one))
    for path in folder.rglob("*.css"):
        named = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)", path.read_text(encoding="utf-8"))
        yield from (f"{path.name} loads {one}" for one in named if ELSEWHERE.match(one))


def into_the_void(folder: Path) -> Iterator[str]:
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            if not target.exists() or (anchor and target in pages and unquote(anchor) not in pages[target].anchors):
                yield f"{path.name} links to {link}"


@pytest.mark.slow  # Sphinx reads and writes every page
def test_the_site_is_built_without_a_warning_and_stands_alone(tmp_path: Path) -> None:
    site, said = built(tmp_path)
    assert said == ""
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()
    assert sorted(from_elsewhere(site)) == []
    assert sorted(into_the_void(site)) == []


def test_what_a_page_loads_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<script src="https://a.example/x.js"></script><img src="//b.example/y.png"><a href="https://c.example">')
    (tmp_path / "style.css").write_text('@import "https://d.example/z.css"; p { background: url(http://e.example/f.png), url(own.png) }')
    assert len(list(from_elsewhere(tmp_path))) == 4


def test_a_link_into_the_void_is_found(tmp_path: Path) -> None:
    links = "".join(f'<a href="{link}"></a>' for link in ("#here", "b.html#there", "b.html#gone", "c.html"))
    (tmp_path / "a.html").write_text(f'<h1 id="here"></h1>{links}')
    (tmp_path / "b.html").write_text('<h2 id="there"></h2>')
    assert list(into_the_void(tmp_path)) == ["a.html links to b.html#gone", "a.html links to c.html"]
