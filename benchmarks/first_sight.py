"""What a person meets at first sight on each page of a release from a codebook: words, controls, question marks, and how far it scrolls.

    python -m benchmarks first_sight               # exit code 1 where a goal is missed

A table of 50,000 invented people with 12 columns is uploaded, their number is said, the codebook pasted, every other default kept. Each
page is measured as it is when it has been drawn, Data with its table and Domain with its values; nothing is opened. Words are all that
the page itself shows, charts included, if they hold a letter or a digit; text within a canvas (tables of data) is not counted, and neither
is the sidebar, which is the same on every page. Controls are buttons, links, fields, each choice of a radio group, and what folds out. A
screen is 1440 x 900.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.journeys import Hand, bundle_of, lock_and_run
from benchmarks.server import chromium, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGES = ("Data", "Domain", "Workload", "Budget", "Mechanism", "Results")
MOST = {"words": 800, "controls": 80, "questions": 30}
"""In all six pages."""
SCREENS = 1.5
"""Of Results, before “Every table”."""
PEOPLE, WIDTH, HEIGHT = 50_000, 1440, 900
_FOLD = "Every table"
_LOOK = """fold => {
  const places = [...document.querySelectorAll('[data-testid=stMain], [data-testid=stBottom]')];
  const seen = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true}) && e.getBoundingClientRect().width > 1;
  const within = selector => new Set(places.flatMap(p => [...p.querySelectorAll(selector)]).filter(seen));
  const texts = new Set();
  for (const place of places) {
    const walk = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const e = walk.currentNode.parentElement;
      const hidden = 'style, script, title, desc, [data-testid=stIconMaterial], [translate=no], [data-testid=stTooltipIcon]';
      if (!e.closest(hidden) && seen(e)) texts.add(walk.currentNode);
    }
  }
  for (const field of within('input, textarea')) texts.add({textContent: field.value || field.placeholder || ''});
  const words = [...texts].flatMap(t => t.textContent.split(/\\s+/)).filter(w => /[\\p{L}\\p{N}]/u.test(w));
  const questions = within('[data-testid=stTooltipIcon]').size;
  const fields = 'input:not([type=radio]):not([type=checkbox]):not([type=file])';
  const pressed = [...within('button, a[href], summary, textarea, label:has(input[type=radio], input[type=checkbox]), ' + fields)]
    .filter(e => !e.closest('[data-testid=stTooltipIcon]'));
  const controls = pressed.filter(e => !pressed.some(other => other !== e && other.contains(e)));
  const main = document.querySelector('[data-testid=stMainBlockContainer]');
  const top = main.getBoundingClientRect().top;
  const folds = [...main.querySelectorAll('summary')].find(e => e.textContent.includes(fold));
  const height = folds ? folds.getBoundingClientRect().top - top : main.firstElementChild.getBoundingClientRect().bottom - top;
  return {words: words.length, controls: controls.length, questions, height};
}"""


@dataclass(frozen=True)
class Sight:
    """Of one page. screens: its height, as a multiple of the window's; of Results, of what stands before “Every table”."""

    words: int
    controls: int
    questions: int
    screens: float


def sight(page: Page) -> Sight:
    """What the page shows now."""
    page.wait_for_function("[...document.querySelectorAll('[data-testid=stVegaLiteChart]')].every(c => c.querySelector('canvas, svg'))")
    seen: dict[str, Any] = page.evaluate(_LOOK, _FOLD)
    return Sight(seen["words"], seen["controls"], seen["questions"], round(seen["height"] / HEIGHT, 2))


def walk(hand: Hand) -> Iterator[tuple[str, Sight]]:
    """Each page of the release, and Verify, with what is seen on it; the hand's page is at the wizard's first page."""
    hand.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    table, lines = people(hand.folder)
    hand.choose_file(table)
    hand.sees("12 columns")
    hand.type("Name of the population", "People at first sight")
    hand.type("About how many people?", "48,842")
    yield "Data", sight(hand.page)
    hand.go_on("Domain")
    hand.button("Paste two columns")
    hand.type("Lines from a spreadsheet", lines)
    hand.button("Take these values")
    hand.sees("12 of 12 columns used")
    yield "Domain", sight(hand.page)
    hand.button("Go on without")
    hand.page.get_by_role("heading", level=1, name="Workload").wait_for()
    yield "Workload", sight(hand.page)
    for title in ("Budget", "Mechanism"):
        hand.go_on(title)
        yield title, sight(hand.page)
    lock_and_run(hand)
    hand.sees("May this be published?")
    yield "Results", sight(hand.page)
    bundle = bundle_of(hand)
    hand.open("Verify")
    hand.choose_file(bundle)
    hand.sees("This bundle is consistent")
    yield "Verify", sight(hand.page)


def people(folder: Path) -> tuple[Path, str]:
    """A table of invented people, and its codebook as two columns of a spreadsheet."""
    from dpsynth_core.sources import demo

    path = folder / "people.csv"
    demo.simulate(PEOPLE).to_csv(path, index=False)
    lines = []
    for column in demo.demo_domain():
        values = [f"{column.lower:g}..{column.upper:g}"] if column.is_number else column.categories
        lines += [f"{column.name}\t{value}" for value in values]
    return path, "\n".join(lines)


def sums(seen: Mapping[str, Sight]) -> dict[str, int]:
    """Over the six pages."""
    return {measure: sum(getattr(seen[page], measure) for page in PAGES) for measure in MOST}


def main(arguments: Sequence[str] | None = None) -> int:
    from dpsynth_core.store import access_token

    options = record.parser(__doc__).parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        os.environ["DPSYNTH_HOME"] = str(Path(place) / "home")
        with serving() as (url, _), chromium() as browser:
            page = browser.new_page(accept_downloads=True)
            page.goto(f"{url}/?token={access_token.load()}")
            page.wait_for_selector("h1")
            hand = Hand(page, Path(place))
            hand.wait()
            seen = dict(walk(hand))
    total = sums(seen)
    kept = {**record.machine(), "pages": {name: asdict(one) for name, one in seen.items()}, "six pages": total}
    heads = ("page", "words", "controls", "question marks", "screens")
    rows = [(name, *asdict(one).values()) for name, one in seen.items()]
    rows += [("**six pages**", *total.values(), ""), ("goal, at most", *MOST.values(), f"{SCREENS} of Results before “Every table”")]
    about = f"At first sight of each page of a release from a codebook. `python -m benchmarks first_sight`, {kept['day']}."
    record.write(options.results / "first_sight", kept, [about, "", *record.table(heads, rows)])
    return int(any(total[measure] > most for measure, most in MOST.items()) or seen["Results"].screens > SCREENS)
