"""The ledger on screen: the state of the chain, the account of each population, and every entry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.store import accounts, approvals, auditing, balance, chain, ledger, roles, runs, signing, verified_books
from dpsynth_core.store.balance import Spent
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.ledger_books import Books
from dpsynth_core.store.roles import Act
from dpsynth_core.web.ledger import office_view
from dpsynth_core.web.shell import frame, numbers, refusals, session
from dpsynth_core.web.shell.text import capital, literal, one_line

_AT_ONCE, _UNASKED = 10, 3
"""Largest number of accounts on the page, and of those that are drawn without a choice: each takes half a screen."""
_KINDS = {
    "population": "population opened, with its limit",
    "cap": "limit changed",
    "reserve": "budget reserved for a run",
    "touch": "the run opened the records: final",
    "return": "given back: the run read nothing",
    "restore": "a person accepted the ledger as it was",
    "demand": "what a second person must approve",
    "rules": "rules of the house put in force",
    "approve plan": "plan approved",
    "approve release": "release approved",
    "look": "true values looked at",
    "download": "release downloaded",
    "delete": "deleted",
    "token": "token for programs made",
    "revoke": "token for programs revoked",
    "share": "project shared, offered or taken over",
    "retention": "how long projects and uploads are kept",
}


def charges(owner: str) -> None:
    """Draw accounts and entries of the ledger, and the key that signs releases.

    Of more than 3 accounts, the open project's and the newest are drawn until the visitor chooses up to 10. Entries
    are drawn in pages of 500, the newest first. Visitors with the right can change an account's limit. With
    sign-in, the cards of `office_view` come first. If the ledger is not whole, an error takes the place of the
    accounts. If no population is open yet, a sentence says so and nothing else is drawn.

    Args:
        owner: The visitor's owner id.
    """
    if session.in_office():
        office_view.cards(owner)
    names = balance.populations()
    if not names:
        st.info("Nothing is charged yet. The first run, or the Data page, opens a population.", icon=":material/receipt_long:")
        return
    may_change = roles.may(owner, Act.CAP)
    if _whole():
        books = verified_books.read()
        for number, spent in enumerate(balance.spent_by_all(_shown(names))):
            with st.container(border=True, key=f"population_{number}"):
                _account(owner, spent, books, may_change)
    _entries(owner, names)
    with frame.card("Key that signs releases", Zone.RELEASED):
        st.code(signing.public_key(), language=None)
        st.caption("Announce it apart from the bundles, where recipients look for it. The page Verify then recognizes your bundles.")


def _shown(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the populations whose accounts are drawn.

    Where there are many, the reader chooses; at first they are the open project's and those that
    were opened last.
    """
    if len(names) <= _UNASKED:
        return names
    help = f"There are {len(names):,}. Without a choice, you see this project's and those that were opened last."
    look: dict[str, Any] = {"format_func": one_line, "placeholder": f"{_UNASKED} of {len(names):,}", "max_selections": _AT_ONCE}
    chosen = st.multiselect("Accounts of populations", names, key="ledger_accounts", help=help, **look)
    own = session.current().draft.get("population")
    return tuple(chosen) or tuple(dict.fromkeys([*(name for name in names if name == own), *reversed(names)]))[:_UNASKED]


def _whole() -> bool:
    verdict = verified_books.standing()
    if verdict.checked and st.button("Check every entry now", icon=":material/fact_check:"):
        verdict = verified_books.verify()
    if verdict.ok:
        kept = f"Keep this code elsewhere to prove that later: `{verdict.head.hash[:16]}`."
        when = f" The newest entries were checked now, all of them at {_moment(verdict.checked)} UTC." if verdict.checked else ""
        st.success(f"The record of {verdict.head.number:,} entries is complete and unaltered.{when} {kept}", icon=":material/link:")
    else:
        st.error(
            f"The chain is broken: {literal(verdict.problem)}. So no sums are shown, and no run is charged until the person who "
            "keeps this server puts the newest copy of its directory back, or accepts the ledger as it is: "
            "`python -m dpsynth_core ledger restore`.",
            icon=":material/link_off:",
        )
    if verdict.restored:
        times = "once" if verdict.restored == 1 else f"{verdict.restored:,} times"
        words = f"A person accepted the ledger {times} although it was not whole (see the entries). Charges may be missing from it."
        st.warning(words, icon=":material/history:")
    if sentence := auditing.clock_sentence(verdict):
        st.info(f"{capital(sentence)}.", icon=":material/schedule:")
    return verdict.ok


def _account(owner: str, account: Spent, books: Books, may_change: bool) -> None:
    st.markdown(f"#### {literal(account.population)}")
    average = balance.times_more(account.remaining_rho, account.rho / account.releases) if account.releases else 0
    fitting = f"; about {average:,} more releases like those before fit" if account.releases else ""
    st.progress(account.share, f"{account.share:.0%} of the limit is used{fitting}")
    places = st.columns(4)
    together = f"All releases together have spent this, at δ {numbers.short(account.cap_delta)}. Losses add up more slowly than ε does."
    places[0].metric("Spent", f"ε {account.epsilon:.3g}", help=together)
    places[1].metric("Left", f"ε {account.remaining_epsilon:.3g}", help="One more release could spend this much.")
    places[2].metric("Limit", f"ε {numbers.short(account.cap_epsilon)}", help=f"The limit holds at δ {numbers.short(account.cap_delta)}.")
    places[3].metric("Charged runs", f"{account.releases:,}", help="Those that failed or were cancelled late are among them.")
    if account.unit is not None:
        st.caption(f"All releases of this population protect {literal(account.unit.words)}. Releases with other protection are refused.")
    if session.in_office():
        office_view.demand(owner, account.population, approvals.demanded(books, account.population))
    if may_change:
        with st.expander("Change the limit", icon=":material/edit:"):
            _change_cap(owner, account)


@refusals.explained()
def _change_cap(owner: str, account: Spent) -> None:
    with st.form(f"cap_{account.population}", border=False):
        first, second = st.columns(2)
        epsilon = first.text_input("New limit, ε", numbers.short(account.cap_epsilon))
        delta = second.text_input("δ", numbers.short(account.cap_delta))
        help = "The ledger keeps it for auditors. Later releases say that the limit was changed."
        note = st.text_input("Reason", help=help)
        if not st.form_submit_button("Change the limit", icon=":material/edit:"):
            return
    cap = numbers.positive(epsilon, "limit ε", "10"), numbers.positive(delta, "limit δ", "1e-9")
    ledger.change_cap(owner, account.population, cap, note)
    st.rerun()


def _entries(owner: str, names: tuple[str, ...]) -> None:
    with frame.card("Entries", Zone.RELEASED, "The newest entry comes first."):
        picked = st.multiselect("Populations", names, format_func=one_line, placeholder="all", key="ledger_populations")
        count, chosen_entries = auditing.newest_entries(picked)
        if count > auditing.PAGE:
            pages = math.ceil(count / auditing.PAGE)
            page = st.number_input(f"Page, of {pages:,}", 1, pages, key=f"ledger_page_{pages}")
            _, chosen_entries = auditing.newest_entries(picked, page)
        columns = {
            "ρ": st.column_config.TextColumn(help="The entry adds this to the loss, or takes it back."),
            "ε": st.column_config.NumberColumn(format="%.4g"),
            "δ": st.column_config.NumberColumn(format="scientific"),
            "what": st.column_config.TextColumn(width="medium"),
            "hash": st.column_config.TextColumn(help="The hash covers every other field and the entry before."),
        }
        height = min(420, 40 + 35 * max(1, len(chosen_entries)))
        st.dataframe(_table(chosen_entries, owner), hide_index=True, height=height, column_config=columns)
        with st.container(horizontal=True):
            for kind, write, media in (("CSV", auditing.to_csv, "text/csv"), ("JSON", auditing.to_json, "application/json")):
                content, name = partial(lambda write: write(chain.entries()), write), f"ledger.{kind.lower()}"
                st.download_button(f"Export {kind}", content, name, media, icon=":material/download:", on_click="ignore")
        st.caption("Anyone can check the JSON export: every hash covers the entry and the hash before it.")


def _moment(at: str) -> str:
    """Return a date and time of the store as people read it."""
    return at[:19].replace("T", " ")


def _table(entries: Sequence[Entry], owner: str) -> pd.DataFrame:
    names, people = {run.id: run.spec.name for run in runs.list(owner)}, {LOCAL_OWNER: "who runs the server", **roles.names()}
    columns = {
        "number": [e.number for e in entries],
        "at (UTC)": [_moment(e.at) for e in entries],
        "population": [e.population for e in entries],
        "what": [_KINDS[e.kind] for e in entries],
        "ρ": [f"{e.rho:+.6f}" if e.kind in ("reserve", "return") else "" for e in entries],
        "ρ in": [e.accountant if e.kind in ("reserve", "return") else "" for e in entries],
        "ε": [e.epsilon or None for e in entries],
        "δ": [e.delta or None for e in entries],
        "who": ["you" if e.curator == owner else people.get(e.curator) or f"another curator ({e.curator[:8]})" for e in entries],
        "release": [names.get(e.run, "") for e in entries],
        "protects": [accounts.unit_of(e).words if e.relation else "" for e in entries],
        "note": [e.note for e in entries],
        "run": [e.run[:8] for e in entries],
        "plan": [e.spec[:8] for e in entries],
        "hash": [e.hash[:8] for e in entries],
    }
    return pd.DataFrame(columns)
