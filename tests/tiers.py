"""Three tiers of tests: `make check` after an edit, `make test` before a commit, `make test-all` with other random examples each time.

`tests/seconds.json` says how long a case of each test takes. `test` has of every test as many cases as fit into `SHARE` seconds, one at
least, and no test whose case takes longer than `LONG`, but those of `LONG_BUT_KEPT`. `rest` is what it leaves out. `check` has of `test`
what takes at most `QUICK` seconds and needs neither a browser nor a release.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from zlib import crc32

from hypothesis import HealthCheck, settings

EXAMPLES = {"check": 0.2, "test": 0.3, "rest": 2.0, "all": 2.0}
"""How many examples of a property a tier tries, as a multiple of what its test states."""
QUICK = 0.08
SHARE = 0.3
LONG = 0.8
LONG_BUT_KEPT: Mapping[str, str] = {
    "test_demo_from_one_click_to_rows_with_reload_and_second_tab": "the one walk from a table to its rows in front of a browser",
    "test_killed_at_every_durable_step_the_books_are_right": "no other test kills a run at each of its steps",
    "test_one_person_changes_their_own_record_alone": "no other test asks this of queries in real databases",
    "test_a_seeded_spec_still_makes_the_same_release": "all cases: what the program makes is the same as before",
    "test_of_neighbours_that_are_opened_by_their_path_alone_everybody_elses_codes_are_equal": "all cases: 20,000 pairs",
    "test_a_page_says_what_its_snapshot_says": "all cases: no other test holds the wording of a page",
    "test_a_format_that_follows_the_records_is_noticed": "all cases: files, folders and linked tables are read on ways of their own",
    "test_a_broken_rule_is_noticed": "all cases: each breaks another rule of the house",
}
"""All their cases are in `test`."""
NOT_SHIPPED = ("tests/benchmarks/",)
PREPARED = ("tests/app/", "tests/bundle/", "tests/report/test_notebook", "tests/test_fences", "tests/store/")
"""What makes whole releases or pages before a quick test can look at them: not in `check`."""

_SECONDS = Path(__file__).with_name("seconds.json")
_now = "test"


def begin(tier: str) -> None:
    """Before any test is imported. With `all`, examples are drawn anew each time; --hypothesis-seed says which."""
    global _now
    _now = tier
    settings.register_profile(tier, derandomize=tier != "all", deadline=None, max_examples=_scaled(100), print_blob=True)
    settings.load_profile(tier)


def examples(usual: int, *, suppress_health_check: tuple[HealthCheck, ...] = ()) -> settings:
    """So many examples of a property, as the tier wants."""
    return settings(max_examples=_scaled(usual), deadline=None, suppress_health_check=suppress_health_check)


def of(tier: str, tests: Sequence[tuple[str, str, bool]]) -> list[bool]:
    """Which tests are of the tier, by their files, names without the case, and whether they need a browser; in the order of collection."""
    seconds, seen, chosen = json.loads(_SECONDS.read_text(encoding="utf-8")), Counter[tuple[str, str]](), []
    cases = Counter((file, name) for file, name, _ in tests)
    for file, name, browser in tests:
        takes = seconds.get(name, 0.0)
        one = file, name
        tried = name in LONG_BUT_KEPT or (takes <= LONG and _fits(name, seen[one], cases[one], takes))
        room = re.sub(r"^tests/extensions/\w+/", "tests/", file)  # an extension's tests are as slow as those of the core
        in_test = tried and not room.startswith(NOT_SHIPPED)
        seen[one] += 1
        quick = not browser and not room.startswith(PREPARED) and takes <= QUICK
        chosen.append({"check": in_test and quick, "test": in_test, "rest": not in_test}.get(tier, True))
    return chosen


def _fits(name: str, number: int, cases: int, takes: float) -> bool:
    """Whether this case is one of those that are tried: they are spread over all, from another one on for each test."""
    tried = cases if takes == 0 else max(1, min(cases, int(SHARE / takes)))
    return ((number + crc32(name.encode())) * tried) % cases < tried


def _scaled(usual: int) -> int:
    return max(1, round(usual * EXAMPLES[_now]))
