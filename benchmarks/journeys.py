"""Twelve people's tasks in Chromium: how many interactions each takes, and how long it lasts for hands that never hesitate.

    python -m benchmarks journeys                      # all of them; --only demo verdict for some, the others keep their numbers

An interaction is a click, a text that is typed or pasted, or a file that is chosen. Beside each stands what the test of the first version
(commit 2ab6137) counted, where it stated a number. Time includes runs and is that of one machine; beside it stands the processor time of
the server, without runs. Exit code 1 where a task takes as many interactions as before, or more.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.server import chromium, cpu_ms, serving
from benchmarks.table import ADULT_FOLDER

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

RUN_MS = 600_000
"""For a whole run or sweep on a busy machine."""
NUMBERS = {"age": "17..90", "fnlwgt": "10000..1500000", "education-num": "1..16", "capital-gain": "0..99999", "capital-loss": "0..4999"}
PEOPLE, MEASURES = 300, 27
_WRONG = "about 75 interactions on Domain, and wrong"
_EMPTY = "15 clicks and more, and a column that is all empty was called good"
_BEFORE = "4 min and the run; 2 clicks and a reason of one letter for the domain, read from the data"


class Hand:
    """A person who does a task: every interaction is counted, and the page is waited for."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder, self.interactions = page, folder, 0

    def click(self, target: Locator) -> None:
        self.interactions += 1
        self.page.mouse.move(0, 0)  # away from what was clicked before: its tooltip lies over other things for as long as the hand rests
        target.click()
        self.wait()

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name).first)

    def text(self, words: str) -> None:
        self.click(self.page.get_by_text(words, exact=True).first)

    def type(self, label: str, text: str) -> None:
        self.interactions += 1
        field = self.page.get_by_role("textbox", name=label).first
        field.fill(text)
        field.press("Control+Enter")
        self.wait()

    def choose_file(self, path: Path) -> None:
        self.interactions += 1
        self.page.locator("input[type=file]").first.set_input_files(path)
        self.wait()

    def go_on(self, *titles: str) -> None:
        """Continue, once for each of the pages that follow."""
        for title in titles:
            self.click(self.page.get_by_test_id("stBottom").get_by_role("button", name="Continue"))
            self.page.get_by_role("heading", level=1, name=title).wait_for()

    def open(self, title: str) -> None:
        """A page of the navigation."""
        self.click(self.page.get_by_test_id("stSidebarNavLink").filter(has_text=title))
        self.page.get_by_role("heading", level=1, name=title).wait_for()

    def sees(self, words: str | re.Pattern[str]) -> None:
        """Not an interaction: fails where it is not there."""
        self.page.get_by_text(words).filter(visible=True).first.wait_for(timeout=RUN_MS)

    def take(self, target: Locator) -> Path:
        """Download what a link or button gives."""
        self.interactions += 1
        with self.page.expect_download(timeout=RUN_MS) as taken:
            target.click()
        path = self.folder / taken.value.suggested_filename
        taken.value.save_as(path)
        return path

    def wait(self) -> None:
        self.page.wait_for_timeout(150)
        if self.page.get_by_test_id("stApp").count():
            self.page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


@dataclass(frozen=True)
class Task:
    """name: on the command line. before: interactions of the first version as its test states them; None where it states none, or could not
    be done, which `remark` says. run: does it. needs: makes the state to start from, and is not counted."""

    name: str
    title: str
    before: int | None
    remark: str
    run: Callable[[Hand], None]
    needs: Callable[[Hand], None] | None = None


def _demo(hand: Hand) -> None:
    _with_demo(hand)
    lock_and_run(hand)
    bundle_of(hand)
    hand.button("Check it")
    hand.sees("This bundle is consistent")


def lock_and_run(hand: Hand) -> None:
    hand.button("Lock the plan and run it")
    hand.button("Spend ε")
    hand.page.get_by_role("link", name="See the results").wait_for(timeout=RUN_MS)
    hand.click(hand.page.get_by_role("link", name="See the results"))


def bundle_of(hand: Hand) -> Path:
    return hand.take(hand.page.locator(".st-key-offer_bundle").get_by_role("link"))


def _adult(hand: Hand) -> None:
    hand.button("Paste two columns")
    hand.type("Lines from a spreadsheet", _adult_codebook())
    hand.button("Take these values")
    hand.button("Compare them now")
    hand.sees(re.compile("Every value has a cell of its own|outside"))
    hand.go_on("Workload", "Budget", "Mechanism")
    lock_and_run(hand)
    hand.sees("May this be published?")


def _adult_codebook() -> str:
    """Bounds of numbers, and the values of the other columns, as the field's documentation lists them: here, as the table has them."""
    import pandas as pd

    table = pd.read_csv(ADULT_FOLDER / "adult.csv", dtype=str, skipinitialspace=True)
    lines = [f"{column}\t{bounds}" for column, bounds in NUMBERS.items()] + ["hours-per-week\t1..99"]
    listed = [name for name in table.columns if name not in NUMBERS and name != "hours-per-week"]
    return "\n".join(lines + [f"{name}\t{value}" for name in listed for value in sorted(set(table[name].dropna()) - {"?"})])


def _with_table(hand: Hand, table: Path, population: str, people: str) -> None:
    hand.choose_file(table)
    hand.sees(re.compile(r"\d+ columns"))
    hand.type("Name of the population", population)
    hand.type("About how many people?", people)
    hand.go_on("Domain")


def _with_adult(hand: Hand) -> None:
    _with_table(hand, ADULT_FOLDER / "adult.csv", "Adults of 1994", "48,842")


def _clinic(hand: Hand) -> None:
    hand.button("Load a codebook")
    hand.choose_file(hand.folder / "clinic-codebook.csv")
    hand.button("Compare them now")
    hand.sees("Every value has a cell of its own")
    hand.go_on("Workload")


def _with_clinic(hand: Hand) -> None:
    """Thirty columns as a German spreadsheet writes them: semicolons, decimal commas, days as 24.05.1998."""
    names = [f"measure_{number}" for number in range(MEASURES)]
    lines = [";".join(["name", "born", "sex", *names])]
    for person in range(PEOPLE):
        measured = [f"{(person * 7 + number * 13) % 400 / 10:.1f}".replace(".", ",") for number in range(MEASURES)]
        lines.append(";".join([f"Müller {person}", f"{1 + person % 28:02d}.05.{1940 + person % 60}", "fm"[person % 2], *measured]))
    (hand.folder / "clinic.csv").write_text("\n".join(lines) + "\n", encoding="cp1252")
    codebook = ["column,value", "born,1930-01-01..2005-12-31", "sex,f", "sex,m", *(f"{name},0.0..40.0" for name in names)]
    (hand.folder / "clinic-codebook.csv").write_text("\n".join(codebook) + "\n", encoding="utf-8")
    _with_table(hand, hand.folder / "clinic.csv", "Patients", "300")


TITANIC_CODEBOOK = "\n".join(
    f"{column}\t{value}"
    for column, values in {
        "Pclass": ["1..3"],
        "Sex": ["female", "male"],
        "Age": ["0.0..100.0"],
        "SibSp": ["0..10"],
        "Parch": ["0..10"],
        "Fare": ["0.0..600.0"],
        "Cabin": [*"ABCDEFGT"],
        "Embarked": [*"CQS"],
        "Survived": ["0..1"],
    }.items()
    for value in values
)


def _titanic(hand: Hand) -> None:
    hand.button("Paste two columns")
    hand.type("Lines from a spreadsheet", TITANIC_CODEBOOK)
    hand.button("Take these values")
    hand.button("Compare them now")
    hand.go_on("Workload", "Budget", "Mechanism")
    lock_and_run(hand)
    hand.sees("May this be published?")


def _with_titanic(hand: Hand) -> None:
    """The passengers with invented names, tickets and numbers beside their values: none of them may be published."""
    import pandas as pd

    table = pd.read_csv(ADULT_FOLDER / "titanic.csv", index_col=0)
    table.insert(0, "PassengerId", range(1, len(table) + 1))
    table.insert(1, "Name", [f"Passenger, No. {number}" for number in table["PassengerId"]])
    table.insert(2, "Ticket", [f"PC {17_000 + number}" for number in table["PassengerId"]])
    table.to_csv(hand.folder / "titanic.csv", index=False)
    _with_table(hand, hand.folder / "titanic.csv", "Passengers", "1,306")


def _learn(hand: Hand) -> None:
    """Nothing is typed but the name of the people: their number is learnt with the values."""
    hand.choose_file(ADULT_FOLDER / "adult.csv")
    hand.sees(re.compile(r"\d+ columns"))
    hand.type("Name of the population", "Adults who are learnt")
    hand.go_on("Domain")
    hand.button("Spend ε")
    hand.page.get_by_text("Learnt for ε").wait_for(timeout=RUN_MS)
    while hand.page.get_by_role("button", name="Do this").count():
        hand.button("Do this")
        if hand.page.get_by_role("button", name="Spend ε").count():
            hand.button("Spend ε")
            hand.page.get_by_text("Learnt in 2 runs").wait_for(timeout=RUN_MS)
    if (without := hand.page.get_by_role("button", name="Go on without")).count():  # a column has usual bounds, which nobody has learnt
        hand.click(without.first)
        hand.page.get_by_role("heading", level=1, name="Workload").wait_for()
    else:
        hand.go_on("Workload")
    hand.go_on("Budget", "Mechanism")
    lock_and_run(hand)
    bundle_of(hand)
    hand.button("Check it")
    hand.sees("This bundle is consistent")


def _plan_first(hand: Hand) -> None:
    hand.text("Plan first")
    hand.type("Or paste names", "age\t17..90\nsex\tf\nsex\tm\nregion\tnorth\nregion\tsouth")
    hand.button("Plan with these columns")
    hand.type("Name of the population", "People")
    hand.go_on("Domain", "Workload", "Budget", "Mechanism")
    hand.sees("Choose the table")


def _purpose(hand: Hand) -> None:
    hand.text("Tables of three columns")
    hand.go_on("Budget")


def _at_workload(hand: Hand) -> None:
    hand.button("Or try it with simulated people")
    hand.page.get_by_role("heading", level=1, name="Domain").wait_for()
    hand.go_on("Workload")


def _try_out(hand: Hand) -> None:
    hand.open("Trade-offs")
    hand.type("Rows", "500")
    hand.text("AIM")
    hand.button("Start")
    hand.sees(re.compile(r"Done · \d+ of \d+ trials|(\d+) of \1 trials"))
    hand.button("into the plan")
    hand.page.get_by_role("heading", level=1, name="Mechanism").wait_for()


def _with_demo(hand: Hand) -> None:
    _at_workload(hand)
    hand.go_on("Budget", "Mechanism")


def _verdict(hand: Hand) -> None:
    hand.open("Results")
    hand.sees("May this be published?")
    hand.button("Check it")
    hand.sees("This bundle is consistent")
    hand.click(hand.page.get_by_role("radiogroup", name="Your decision").get_by_text("Publish", exact=True))
    hand.type("Reason", "Good enough for teaching.")
    hand.type("Your name", "Ann Ross")
    hand.type("Your role", "Data protection officer")
    hand.click(hand.page.get_by_role("button", name="Sign", exact=True))
    hand.take(hand.page.get_by_role("button", name="Save the decision"))


def _analyst(hand: Hand) -> None:
    """From explore.html of the bundle alone: the share of people with one of the values of a column."""
    with zipfile.ZipFile(next(hand.folder.glob("*.zip"))) as packed:
        page = packed.extract("explore.html", hand.folder)
    hand.page.goto(Path(page).as_uri())
    hand.interactions += 1
    hand.page.get_by_label("What do you want to know?").select_option("share")
    hand.interactions += 1
    hand.page.locator("select:visible").nth(1).select_option(label="sex")
    hand.interactions += 1
    hand.page.locator("input[type=checkbox]:visible").first.check()
    hand.page.locator("#answer").get_by_text(re.compile("with 95 ?% confidence")).first.wait_for()


def _with_run(hand: Hand) -> None:
    _with_demo(hand)
    lock_and_run(hand)


def _with_bundle(hand: Hand) -> None:
    _with_run(hand)
    bundle_of(hand)


def _compare(hand: Hand) -> None:
    hand.open("Compare")
    hand.sees("What was set differently?")
    hand.sees("More accurate in")


def _with_two_runs(hand: Hand) -> None:
    _with_run(hand)
    hand.open("Mechanism")
    hand.text("Plan another run")
    lock_and_run(hand)


def _next_year(hand: Hand) -> None:
    hand.button("Copy")
    hand.type("Name", "Next year")
    hand.text("The same people, or some of them")
    hand.click(hand.page.get_by_role("dialog").get_by_role("button", name="Copy", exact=True))
    hand.page.get_by_role("heading", level=1, name="Data").wait_for()
    _with_demo(hand)
    hand.sees("Lock and run")


TASKS = (
    Task("demo", "A newcomer: the simulated people, to a bundle that Verify calls consistent", 13, "13 clicks", _demo),
    Task("adult", "A curator with a codebook: Adult's 15 columns, to a verdict", 75, _WRONG, _adult, _with_adult),
    Task("clinic", "A hospital: 30 columns with decimal commas", None, "stuck after 5 min, 5 of 30 columns usable", _clinic, _with_clinic),
    Task("titanic", "Another curator: the Titanic, with names and tickets, to a verdict", None, _BEFORE, _titanic, _with_titanic),
    Task("learn", "A curator without a codebook: Adult's 15 columns learnt, to a consistent bundle", None, _EMPTY, _learn),
    Task("plan-first", "A careful one: the whole plan before there is a table", None, "impossible: every step is locked", _plan_first),
    Task("purpose", "A statistician: what will readers study?", None, "not counted", _purpose, _at_workload),
    Task("try-out", "A doubter: which mechanism and ε, at no cost", None, "not counted; between 17 and 21 min", _try_out, _with_demo),
    Task("compare", "An undecided one: two runs side by side", None, "not counted", _compare, _with_two_runs),
    Task("verdict", "A privacy officer: from a finished run to a decision that is signed", None, "not counted", _verdict, _with_run),
    Task("analyst", "An analyst: from the bundle to an answer with its interval", None, "impossible", _analyst, _with_bundle),
    Task("next-year", "The same office a year later: last year's plan again", None, "impossible", _next_year, _with_demo),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = record.parser(__doc__)
    parser.add_argument("--only", nargs="+", choices=[task.name for task in TASKS], default=[])
    options = parser.parse_args(arguments)
    place = options.results / "journeys"
    measured = {one["name"]: one for one in record.earlier(place)}
    for task in TASKS:
        if options.only and task.name not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.environ["DPSYNTH_HOME"] = str(Path(folder) / "home")
            measured[task.name] = _timed(task, Path(folder))
        print(json.dumps(measured[task.name]), file=sys.stderr)
    records = [measured[task.name] for task in TASKS if task.name in measured]
    about = (
        "Interactions (clicks, texts typed or pasted, files chosen) and seconds of each task, runs included, with the load of the machine"
        " at its end, and the processor seconds of the server without runs. `python -m benchmarks journeys`,"
        f" {os.cpu_count()} cores. Beside them, what the test of the first version states."
    )
    shown = ("title", "interactions", "seconds", "load", "server_cpu_seconds", "day", "remark")
    heads = ("task", "interactions", "seconds", "load", "processor seconds of the server", "day", "first version")
    record.write(place, records, [about, "", *record.table(heads, ([one[key] for key in shown] for one in records))])
    return int(any(one["before"] is not None and one["interactions"] >= one["before"] for one in records))


def _timed(task: Task, folder: Path) -> dict[str, Any]:
    """What a task took, from the first interaction that counts."""
    from dpsynth_core.store import access_token

    with serving() as (url, pid), chromium() as opened:
        page = opened.new_page(viewport={"width": 1280, "height": 720}, accept_downloads=True)
        page.set_default_timeout(RUN_MS / 5)
        page.goto(f"{url}/?token={access_token.load()}")
        page.wait_for_selector("h1")
        hand = Hand(page, folder)
        hand.wait()
        if task.needs is not None:
            task.needs(hand)
            hand.interactions = 0
        began, busy = time.monotonic(), cpu_ms(pid)
        task.run(hand)
        took, busy = time.monotonic() - began, cpu_ms(pid) - busy
    measured = {"interactions": hand.interactions, "seconds": round(took, 1), "server_cpu_seconds": round(busy / 1000, 1)}
    made = {"day": record.now()[:10], "load": round(os.getloadavg()[0], 1)}
    return {name: getattr(task, name) for name in ("name", "title", "before", "remark")} | measured | made
