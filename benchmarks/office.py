"""Do pages stay fast while twenty people work on one server, and one of them has a run that does not end?

    python -m benchmarks office                        # ten minutes; --minutes 2 shows the shape
    python -m benchmarks office --entries 100000       # with a ledger of that length, of 1,000 populations more

Twenty curators sign in at a server for an office and speak with it as browsers do: HTTP, then Streamlit's messages through a websocket.
Nobody waits for another. Each opens one page after the other at random, changes epsilon there or starts a run, thinks for --think seconds
on average, and meanwhile polls what a browser would poll. The first of them has started a run that takes longer than the test. A page's
time is that from the message to the end of the script that answers it. Ends with 1 after an error of any page, or where the 95th percentile
of the other nineteen is above a second, the ledger is not whole, or it does not hold one charge for each run.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import statistics
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.typing import Origin, Subprotocol

from benchmarks import long_ledger, record
from benchmarks.server import cpu_ms, demo_draft, free_port, memory_mb, serving

GOAL_SECONDS = 1.0
PEOPLE, AT_ONCE = 20, 2
PAGES = ("", "domain", "workload", "budget", "mechanism", "results", "compare", "ledger", "guide")
"""By their addresses; the first is Data."""
COLUMNS = ("age", "sex", "region", "education", "health", "commute")
_SECRET = "c" * 40
_PATIENCE = 60.0
POLL = "poll"
"""Not a page: what the browser asks for by itself while a run is under way."""
_ENDLESS: dict[str, Any] = {"workload": {"kind": "all", "k": 4}, "mechanism": {"name": "gem", "settings": {"rounds": 1000}}}
"""By its forecast it takes 50 minutes."""
_SMALL: dict[str, Any] = {"workload": {"kind": "all", "k": 2}, "mechanism": {"name": "independent", "settings": {}}}
_CAP = (1_000.0, 1e-6)
_PEOPLE, _MORE_POPULATIONS = "Invented people", 1_000


class Failed(Exception):
    """A page that did not come, or came with an error."""


@dataclass
class Visit:
    """A browser's tab. pages: the address of each page, with its name to the server. widgets: of the page, by label: kind, id and
    fragment. polls: fragments that ask to be run again, and how often."""

    socket: Any
    pages: dict[str, str] = field(default_factory=dict)
    here: str = ""
    widgets: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    polls: dict[str, float] = field(default_factory=dict)

    async def open(self, page: str) -> float:
        return await self._ask(page_script_hash=self.pages.get(page, ""), page_name=page)

    async def press(self, label: str) -> float:
        return await self._widget(label, trigger_value=True)

    async def type(self, label: str, text: str) -> float:
        return await self._widget(label, string_value=text)

    async def poll(self, fragment: str) -> float:
        return await self._ask(page_script_hash=self.here, fragment_id=fragment, is_auto_rerun=True)

    def find(self, label: str) -> str:
        """The whole label of the widget whose label begins so; "" where there is none."""
        return next((name for name in self.widgets if name.startswith(label)), "")

    async def _widget(self, label: str, **value: Any) -> float:
        _, key, fragment = self.widgets[self.find(label)]
        state = {"widgets": [{"id": key, **value}]}
        return await self._ask(page_script_hash=self.here, fragment_id=fragment, widget_states=state)

    async def _ask(self, **state: Any) -> float:
        """Seconds until the script that answers has ended. Raises Failed."""
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ClientState_pb2 import ClientState

        began = time.perf_counter()
        await self.socket.send(BackMsg(rerun_script=ClientState(**state)).SerializeToString())
        async with asyncio.timeout(_PATIENCE):
            while not self._taken(await self.socket.recv()):
                pass
        return time.perf_counter() - began

    def _taken(self, content: bytes) -> bool:
        """Whether the script has ended with this message."""
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        message = ForwardMsg.FromString(content)
        match message.WhichOneof("type"):
            case "new_session":
                if not message.metadata.run.fragment_ids:
                    self.widgets.clear()
                    self.polls.clear()
                self.here = message.new_session.page_script_hash
            case "navigation":
                self.pages = {"" if page.is_default else page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            case "auto_rerun":
                self.polls[message.auto_rerun.fragment_id] = message.auto_rerun.interval
            case "stop_auto_rerun":
                self.polls.pop(message.stop_auto_rerun.fragment_id, None)
            case "delta":
                self._element(message.delta)
            case "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    raise Failed("the script was not run")
                return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        return False

    def _element(self, delta: Any) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise Failed(f"an exception of type {element.exception.type}")
        if kind in ("button", "text_input"):
            widget = getattr(element, kind)
            if widget.label == "Try again":
                raise Failed("the store refused what the page needed")
            if not widget.disabled:
                self.widgets[widget.label] = (kind, widget.id, delta.fragment_id)


@dataclass
class Curator:
    """Who works until the time is over. seconds: of each page, by what was done."""

    number: int
    cookie: str
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    runs: int = 0

    async def work(self, url: str, think: float, until: float) -> None:
        chance = random.Random(self.number)
        await asyncio.sleep(chance.uniform(0, think))
        while time.monotonic() < until:
            try:
                async with self.tab(url) as tab:
                    self.seconds["first visit"].append(await tab.open(""))
                    while time.monotonic() < until:
                        await self._think(tab, min(time.monotonic() + chance.expovariate(1 / think), until))
                        if time.monotonic() < until:  # else all would act at once
                            await self.act(tab, chance.choice(PAGES), chance)
            except Exception as error:  # noqa: BLE001 (errors are what is counted; a person would open the page again)
                self.errors.append(f"{type(error).__name__}: {error}")
                await asyncio.sleep(think)

    @asynccontextmanager
    async def tab(self, url: str) -> AsyncIterator[Visit]:
        from websockets.asyncio.client import connect

        headers, began = {"Cookie": self.cookie}, time.perf_counter()
        await asyncio.to_thread(_fetched, url, headers)
        self.seconds["the empty page"].append(time.perf_counter() - began)
        address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
        async with connect(
            address, origin=Origin(url), subprotocols=[Subprotocol("streamlit")], additional_headers=headers, max_size=None
        ) as socket:
            yield Visit(socket)

    async def _think(self, tab: Visit, until: float) -> None:
        """Wait, and meanwhile ask again for what the page wants to be asked for."""
        due = {fragment: time.monotonic() + interval for fragment, interval in tab.polls.items()}
        while due and (fragment := min(due, key=lambda one: due[one])) and due[fragment] < until:
            await asyncio.sleep(max(0.0, due[fragment] - time.monotonic()))
            self.seconds[POLL].append(await tab.poll(fragment))
            due = {one: due.get(one, time.monotonic()) for one in tab.polls}
            due |= {fragment: time.monotonic() + tab.polls[fragment]} if fragment in due else {}
        await asyncio.sleep(max(0.0, until - time.monotonic()))

    async def act(self, tab: Visit, page: str, chance: random.Random) -> None:
        self.seconds[page or "data"].append(await tab.open(page))
        if page == "budget":
            self.seconds["change epsilon"].append(await tab.type("ε (epsilon)", f"{chance.uniform(0.5, 1.5):.2f}"))
        if page == "mechanism" and tab.find("Lock the plan"):
            self.seconds["ask to run"].append(await tab.press("Lock the plan"))
            self.seconds["start a run"].append(await tab.press("Spend ε"))
            self.runs += 1


def _fetched(url: str, headers: Mapping[str, str]) -> None:
    with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers)), timeout=_PATIENCE) as answer:
        answer.read()


@contextmanager
def _office(folder: Path, entries: int) -> Iterator[tuple[str, int, list[Curator]]]:
    """Address and process id of a server, and people who have signed in there, each with a project that is ready to run."""
    port = free_port()
    origin = f"http://localhost:{port}"
    signing = {
        "redirect_uri": f"{origin}/oauth2callback",
        "cookie_secret": _SECRET,
        "client_id": "studio",
        "client_secret": "s",
        "server_metadata_url": "https://login.example.org/.well-known/openid-configuration",
    }
    lines = ["[auth]", *(f"{name} = {json.dumps(value)}" for name, value in signing.items())]
    (folder / "secrets.toml").write_text("\n".join(lines), encoding="utf-8")
    os.environ |= {"DPSYNTH_HOME": str(folder / "home"), "DPSYNTH_CONCURRENT_RUNS": str(AT_ONCE)}
    options = ("--server.address=0.0.0.0", f"--secrets.files={folder / 'secrets.toml'}")
    if entries:
        long_ledger.fill(entries, min(_MORE_POPULATIONS, entries))
    with serving(*options, port=port, log=folder / "log") as (url, pid):
        people = [Curator(number, _cookie(number, origin)) for number in range(PEOPLE)]
        asyncio.run(_prepare(url, people))
        try:
            yield url, pid, people
        finally:
            _end_runs()


def _name(number: int) -> str:
    return f"curator{number}@example.org"


def _cookie(number: int, origin: str) -> str:
    """Of who has signed in just now, as the server signs it."""
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    claims = {"iss": "https://login.example.org", "sub": str(number), "email": _name(number), "email_verified": True}
    said = json.dumps({**claims, "is_logged_in": True, "origin": origin, "iat": int(time.time())})
    return f"_streamlit_user={create_signed_value(_SECRET, '_streamlit_user', said).decode()}"


async def _prepare(url: str, people: Sequence[Curator]) -> None:
    """Everybody comes in once, gets a plan, and the first one starts a run that takes longer than the test."""
    from dpsynth_core.sources import demo
    from dpsynth_core.store import ledger, projects, roles
    from dpsynth_core.store.home import LOCAL_OWNER

    for one in people:
        async with one.tab(url) as tab:
            await tab.open("")
        owner = next(owner for owner, name in roles.names().items() if name == _name(one.number))
        (project,) = projects.list(owner)
        population = f"{_PEOPLE} {one.number}"
        ledger.open_population(LOCAL_OWNER, population, _CAP)
        draft = demo_draft(COLUMNS, **_SMALL) if one.number else demo_draft(demo.demo_domain().names, **_ENDLESS)
        projects.save(owner, project.id, draft | {"population": population})
    async with people[0].tab(url) as tab:
        await tab.open("")
        await people[0].act(tab, "mechanism", random.Random(0))
    if not people[0].runs:
        raise Failed("the run that does not end was not started")


def _jobs(state: str) -> list[str]:
    from dpsynth_core.store.database import reading

    with reading() as db:
        return [row["job"] for row in db.execute("SELECT job FROM points WHERE state = ?", (state,))]


def _books() -> dict[str, Any]:
    """What a full check of the ledger finds, and how many charges it has of the curators' populations."""
    from dpsynth_core.store import balance, verified_books

    charges = sum(one.releases for one in balance.spent_by_all() if one.population.startswith(_PEOPLE))
    return {"problem": verified_books.verify().problem, "charges": charges}


def _end_runs() -> None:
    from dpsynth_core.store import dispatch

    for job in (*_jobs("waiting"), *_jobs("running")):
        dispatch.stop(job)


async def _at_work(url: str, people: Sequence[Curator], minutes: float, think: float) -> None:
    until = time.monotonic() + 60 * minutes
    await asyncio.gather(*(one.work(url, think, until) for one in people))


def main(arguments: Sequence[str] | None = None) -> int:
    options = record.parser(__doc__, minutes=10.0, think=10.0, entries=0).parse_args(arguments)
    with tempfile.TemporaryDirectory() as place, _office(Path(place), options.entries) as (url, pid, people):
        load, busy = os.getloadavg()[0], cpu_ms(pid)
        for one in people:
            one.seconds.clear()
        asyncio.run(_at_work(url, people, options.minutes, options.think))
        kept: dict[str, Any] = {
            **record.machine(),
            "load": [round(load, 1), round(os.getloadavg()[0], 1)],
            **{name: getattr(options, name) for name in ("minutes", "think", "entries")},
            "server_share_of_a_core": round((cpu_ms(pid) - busy) / 60_000 / options.minutes, 2),
            "server_peak_mb": round(memory_mb(pid, "VmHWM")),
            "runs": {
                "started": sum(one.runs for one in people) - 1,
                **{state: len(_jobs(state)) for state in ("done", "waiting", "running")},
            },
            "ledger": _books(),
            "errors": [f"curator {one.number}: {error}" for one in people for error in one.errors],
            "logged": len((Path(place) / "log").read_text(encoding="utf-8", errors="replace").split("uncaught")) - 1,
        }
    kept["nineteen"], kept["the one"] = _summary(people[1:]), _summary(people[:1])
    worst = kept["nineteen"]["every page"]["95 %"]
    asked = f" --entries {options.entries}" if options.entries else ""
    about = (
        f"Seconds from a message to the end of the script that answers it, of nineteen of {PEOPLE} curators; the twentieth has a run under"
        f" way that takes longer than the test. `python -m benchmarks office --minutes {options.minutes:g}{asked}`, {kept['day']},"
        f" {kept['cores']} cores, load {kept['load'][0]} before and {kept['load'][1]} at the end. Each thinks {options.think:g} s on"
        f" average. Errors: {len(kept['errors'])}. The server used {kept['server_share_of_a_core']:.0%} of a core and"
        f" {kept['server_peak_mb']:,} MB; {kept['runs']['done']} of {kept['runs']['started']} of their runs ended, {AT_ONCE} at once."
        f" The ledger has {kept['ledger']['charges']} charges of theirs, of so many runs and that of the twentieth."
    )
    heads = ("what", "times", "median", "95 %", "at worst")
    rows = ((what, *(numbers[name] for name in heads[1:])) for what, numbers in kept["nineteen"].items())
    record.write(options.results / ("office_long_ledger" if options.entries else "office"), kept, [about, "", *record.table(heads, rows)])
    lost = kept["ledger"] != {"problem": "", "charges": kept["runs"]["started"] + 1}
    return int(bool(kept["errors"]) or bool(kept["logged"]) or worst > GOAL_SECONDS or lost)


def _summary(people: Sequence[Curator]) -> dict[str, dict[str, float]]:
    """Of all pages together, and of each thing that was done."""
    merged: dict[str, list[float]] = {"every page": []}
    for one in people:
        for what, seconds in one.seconds.items():
            merged.setdefault(what, []).extend(seconds)
            merged["every page"].extend(seconds if what != POLL else [])
    return {what: _numbers(seconds) for what, seconds in merged.items() if seconds}


def _numbers(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    found = {"median": statistics.median(ordered), "95 %": ordered[math.ceil(0.95 * len(ordered)) - 1], "at worst": ordered[-1]}
    return {"times": len(ordered), **{name: round(value, 3) for name, value in found.items()}}
