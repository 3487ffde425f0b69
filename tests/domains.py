"""Hypothesis strategies for attributes, domains and tables of values; shared by the tests of domain, codec and sources."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from hypothesis import strategies as st

from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

NAMES = ("age", "income>50K", "a.b", "x[0]", "<script>", "ä ö", "=1+1", "'quoted'")

labels = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=6).map(str.strip).filter(bool)
names = st.sampled_from(NAMES)


@st.composite
def number_cells(draw: st.DrawFn) -> dict[str, bool]:
    """What happens to missing values and to those outside; both decode to null, so a cell for one alone."""
    return draw(st.sampled_from([{}, {"missing": True}, {"other": True}, {"missing": True, "nearest": True}]))


@st.composite
def categorical_attributes(draw: st.DrawFn, name: str = "c") -> Attribute:
    dtype = draw(st.sampled_from(["string", "int64", "float64", "bool"]))
    other = draw(st.booleans())
    least = 1
    if dtype == "string":
        categories = draw(st.lists(labels.filter(lambda label: label != "other"), min_size=least, max_size=6, unique=True))
    elif dtype == "bool":
        categories = draw(st.lists(st.sampled_from(["false", "true"]), min_size=least, max_size=2, unique=True))
    else:
        number = st.integers(-(10**6), 10**6) if dtype == "int64" else st.floats(-1e6, 1e6, allow_nan=False)
        categories = [str(n) for n in draw(st.lists(number, min_size=least, max_size=6, unique=True))]
    # "other" decodes to null unless the column is text, so that a missing cell beside it could not be told apart
    missing = draw(st.booleans()) and not (other and dtype != "string")
    return Attribute.categorical(name, categories, dtype=dtype, other=other, missing=missing, ordered=draw(st.booleans()))


@st.composite
def integer_attributes(draw: st.DrawFn, name: str = "i") -> Attribute:
    lower = draw(st.integers(-(2**40), 2**40))
    upper = lower + draw(st.integers(0, 10_000))
    cuts = draw(st.none() | st.sets(st.integers(lower, upper), max_size=6))
    edges = None if cuts is None else sorted({lower, *cuts, upper + 1})
    return Attribute.integer(name, lower, upper, edges=edges, **draw(number_cells()))


@st.composite
def numeric_attributes(draw: st.DrawFn, name: str = "n") -> Attribute:
    lower = draw(st.floats(-1e6, 1e6))
    upper = lower + draw(st.floats(1e-3, 1e6))
    decimals = draw(st.none() | st.integers(0, 3))
    return Attribute.numeric(name, lower, upper, bins=draw(st.integers(1, 50)), decimals=decimals, **draw(number_cells()))


@st.composite
def day_attributes(draw: st.DrawFn, name: str = "d") -> Attribute:
    first, last = sorted(draw(st.tuples(*[st.dates(date(1000, 1, 1), date(9000, 1, 1))] * 2)))
    return Attribute.day(name, first, last, **draw(number_cells()))


@st.composite
def time_attributes(draw: st.DrawFn, name: str = "t") -> Attribute:
    """Timestamps, times of day and durations of every precision, of years that files of all programs hold and that have days for bins."""
    kind, precision = draw(st.sampled_from(["timestamp", "time", "duration"])), draw(st.sampled_from(list(MICROSECONDS)))
    values = {
        "timestamp": st.datetimes(datetime(1901, 1, 1), datetime(2170, 1, 1)),
        "time": st.times(),
        "duration": st.timedeltas(timedelta(days=-400), timedelta(days=400)),
    }[kind]
    first, last = sorted(draw(st.tuples(values, values)))
    bins = draw(st.sampled_from([{}, {"width": "hour"} if kind == "time" else {"width": "day"}]))
    return Attribute.binned(name, kind, first, last, precision=precision, **bins, **draw(number_cells()))


@st.composite
def hierarchical_attributes(draw: st.DrawFn, name: str = "h") -> Attribute:
    level = draw(st.integers(1, 4))
    code = st.text("ABN0179", min_size=level, max_size=level)
    groups = draw(st.lists(code, min_size=1, max_size=6, unique=True))
    cells = {"missing": draw(st.booleans()), "other": draw(st.booleans())}
    if draw(st.booleans()):
        return Attribute.listed(name, "hierarchical", groups, hierarchy=Hierarchy(level=level), **cells)
    table = Hierarchy(groups=tuple((group, f"group {group}") for group in groups))
    return Attribute.listed(name, "hierarchical", hierarchy=table, **cells)


def coded_attributes(name: str = "k") -> st.SearchStrategy[Attribute]:
    return st.integers(1, 40).map(lambda size: Attribute.coded(name, size))


def attributes(name: str = "x") -> st.SearchStrategy[Attribute]:
    numbers = (integer_attributes, numeric_attributes, day_attributes, time_attributes)
    kinds = (categorical_attributes, hierarchical_attributes, *numbers, coded_attributes)
    return st.one_of([kind(name) for kind in kinds])


@st.composite
def domains(draw: st.DrawFn, most: int = 5) -> Domain:
    chosen = draw(st.lists(names, min_size=1, max_size=most, unique=True))
    return Domain(tuple(draw(attributes(name)) for name in chosen))
