"""Timestamps, times of day and durations: as texts, as Arrow types, in words, as cells; a clock counts as it is written."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from dpsynth_core.release.document import csv_bytes
from dpsynth_core.sources.arrow_types import declared_type
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.decoding import arrow_type, decode, strays, typed
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import propose
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.outside import outside
from dpsynth_core.vocabulary.declared import declared, domain_json
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.recoding import outside_rule
from dpsynth_core.web.domain.column_draft import ColumnDraft
from tests.refusals import refused

ADMITTED = Attribute.binned("a", "timestamp", "2024-01-01", "2024-01-02", precision="minute", width="hour", missing=True, other=True)
HOUR = Attribute.binned("t", "time", "00:00", "23:59", precision="minute", width="hour", missing=True, other=True)
STAY = Attribute.binned("s", "duration", "00:00:00", "47:59:00", precision="minute", width="hour", missing=True, other=True)
GERMAN = Notation(date_format="dd.mm.yyyy", missing_markers=frozenset({"", "9999-12-31 00:00", "-9"}))


def labels(attribute: Attribute, values: list[object], kind: pa.DataType | None = None) -> list[str]:
    codes = encode_column(attribute, pa.array(values, kind), GERMAN)
    return [attribute.cell_labels()[code] for code in codes]


@pytest.mark.parametrize(
    "text",
    ["2024-01-01 13:45", "01.01.2024 13:45:59,999", "2024-01-01T13:45:00.5+02:00", "1.1.2024 1:45 PM", "2024-01-01T13:45Z"],
)
def test_timestamps_are_read_as_the_clock_shows_them(text: str) -> None:
    assert labels(ADMITTED, [text]) == ["2024-01-01 13:00 to 2024-01-01 13:59"]


@pytest.mark.parametrize(("text", "cell"), [("2024-01-01 25:00", "other"), ("2024-01-03", "other"), ("soon", "other"), (None, "missing"),
                                            ("2024-01-02", "2024-01-02 00:00 to 2024-01-02 00:59"), ("9999-12-31 00:00", "missing"),
                                            ("", "missing"), ("31.02.2024 10:00", "other")])  # fmt: skip
def test_what_is_no_timestamp_has_a_cell_of_its_own(text: str | None, cell: str) -> None:
    assert labels(ADMITTED, [text], pa.string()) == [cell]


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        ("hhmm", ["0830", "830", "083015", "2024-01-01 0830"]),
        ("hh.mm", ["08.30", "8.30", "08.30.15", "01.01.2024 08.30"]),
        ("hhhmm", ["8h30", "08H30", "8 h 30"]),
    ],
)
def test_times_without_a_colon_are_read_where_the_curator_states_it_and_nowhere_else(form: str, texts: list[str]) -> None:
    values = pa.array([*texts, "08:30", "2461", "24.61", "x"])
    stated = [HOUR.cell_labels()[code] for code in encode_column(HOUR, values, Notation(time_format=form))]
    assert stated == ["08:00 to 08:59"] * (len(texts) + 1) + ["other"] * 3
    unstated = [HOUR.cell_labels()[code] for code in encode_column(HOUR, values, Notation())]
    assert unstated == ["other"] * len(texts) + ["08:00 to 08:59"] + ["other"] * 3


@pytest.mark.parametrize("kind", [pa.int16(), pa.int64(), pa.float64()])
def test_numbers_are_times_where_digits_are_stated(kind: pa.DataType) -> None:
    values = pa.array([830, 5, 0, 2359, 2400, 1261, None], kind)
    codes = encode_column(HOUR, values, Notation(time_format="hhmm"))
    first = ["08:00 to 08:59", "00:00 to 00:59", "00:00 to 00:59", "23:00 to 23:59"]
    assert [HOUR.cell_labels()[code] for code in codes] == [*first, "other", "other", "missing"]
    assert set(encode_column(HOUR, values.drop_null(), Notation()).tolist()) == {HOUR.other_code}


@pytest.mark.parametrize(("form", "written"), [("hhmm", "{:02d}{:02d}"), ("hh.mm", "{}.{:02d}"), ("hhhmm", "{}h{:02d}")])
def test_every_minute_of_the_day_survives_in_every_notation(form: str, written: str) -> None:
    """Read as stated, written as rows are, and read again."""
    minutes = Attribute.binned("t", "time", "00:00", "23:59", precision="minute", width="minute", missing=True, other=True)
    stated = Notation(time_format=form)
    texts = pa.array([written.format(*divmod(minute, 60)) for minute in range(24 * 60)])
    codes = encode_column(minutes, texts, stated)
    assert codes.tolist() == list(range(24 * 60))
    domain = Domain((minutes,))
    rows = decode(domain, codes[:, None], np.random.default_rng(1))
    again = pacsv.read_csv(pa.BufferReader(csv_bytes(rows)), convert_options=pacsv.ConvertOptions(column_types={"t": pa.string()}))
    assert encode_column(minutes, again.column("t"), stated).tolist() == codes.tolist()
    section = TableFormat(time_format=form).section("t.csv")
    assert TableFormat.of(section).time_format == section["time_format"] == form


def test_times_behind_a_date_are_read_as_stated_too() -> None:
    values = pa.array(["2024-01-01 1345", "01.01.2024 1345", "2024-01-01 13:45"])
    codes = encode_column(ADMITTED, values, Notation(date_format="dd.mm.yyyy", time_format="hhmm"))
    assert [ADMITTED.cell_labels()[code] for code in codes] == ["2024-01-01 13:00 to 2024-01-01 13:59"] * 3


def test_a_stated_notation_of_times_is_what_a_column_is_guessed_by() -> None:
    table = pa.table({"left": ["0830", "2315", "0005"], "code": ["0830", "0175", "0299"]}).to_pandas()
    left, code = propose(table, TableFormat(time_format="hhmm")).value
    assert left.attribute is not None
    assert left.attribute.kind == "time"
    assert code.attribute is None or code.attribute.kind != "time"
    assert all(guess.attribute is None or guess.attribute.kind != "time" for guess in propose(table, TableFormat()).value)
    refused(Notation, time_format="mmhh", saying="not a known way to write times")


def test_a_timestamp_with_a_zone_counts_by_its_own_clock() -> None:
    noon = datetime(2024, 1, 1, 12, 0, tzinfo=UTC)
    there = pa.array([noon], pa.timestamp("ns", "America/New_York"))
    assert labels(ADMITTED, there.to_pylist(), there.type) == ["2024-01-01 07:00 to 2024-01-01 07:59"]
    assert Attribute.binned("a", "timestamp", noon.astimezone(timezone(timedelta(hours=1))), "2024-01-02").lower == datetime(2024, 1, 1, 13)


@pytest.mark.parametrize("value", [time(13, 45, 59), "13:45", "1:45pm", "2024-01-01 13:45", datetime(1899, 12, 31, 13, 45),
                                   timedelta(hours=13, minutes=45)])  # fmt: skip
def test_times_of_day_are_read_whatever_day_is_before_them(value: object) -> None:
    assert labels(HOUR, [value]) == ["13:00 to 13:59"]
    assert labels(HOUR, ["24:00", "13h", None]) == ["other", "other", "missing"]


@pytest.mark.parametrize("value", ["26:30", "26:30:59", timedelta(hours=26, minutes=30), "1590", 1590, 1590.4])
def test_durations_are_read_as_clock_or_as_numbers_of_their_precision(value: object) -> None:
    assert labels(STAY, [value]) == ["26:00:00 to 26:59:00"]
    assert labels(STAY, [-9, -9.0, -8][:1]) == ["missing"]
    assert labels(STAY, ["-1:00", "48:00", "x"]) == ["other"] * 3


def test_bounds_follow_the_precision_and_a_day_alone_lasts_until_its_end() -> None:
    assert (ADMITTED.lower, ADMITTED.upper) == (datetime(2024, 1, 1), datetime(2024, 1, 2, 23, 59))
    assert ADMITTED.values == 48
    assert HOUR.upper == time(23, 59)
    assert "below 2024-01-01 00:00 or above 2024-01-02 23:59, and text that is not a timestamp" in outside_rule(ADMITTED)


@pytest.mark.parametrize("attribute", [ADMITTED, HOUR, STAY])
@pytest.mark.parametrize("precision", ["hour", "minute", "second", "millisecond", "microsecond"])
def test_values_from_a_bin_follow_the_precision_and_the_csv_reads_back(attribute: Attribute, precision: str) -> None:
    scale = attribute.scale
    fine = Attribute.binned("x", attribute.kind, scale.stated(attribute.lower), scale.stated(attribute.upper), precision=precision, bins=3)
    domain = Domain((fine,))
    table = decode(domain, np.tile([[0], [1], [2]], (20, 1)).astype(np.int32), np.random.default_rng(1))
    assert table.column(0).type == arrow_type(fine)
    assert not strays(domain, table)
    lines = csv_bytes(table).decode().splitlines()[1:]
    read = typed(domain, pa.table({"x": [line.strip('"') for line in lines]}))
    assert read.equals(table)
    off_grid = table.column(0).to_pylist()[0]
    if precision in ("hour", "minute") and not isinstance(off_grid, time):
        wrong = pa.table({"x": pa.array([off_grid + timedelta(seconds=1)], arrow_type(fine))})
        assert strays(domain, wrong) == ["x"]


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "width", "starts"),
    [
        ("timestamp", "2024-01-31 22:30", "2024-03-02", "month", ["2024-01-31 22:30", "2024-02-01 00:00", "2024-03-01 00:00"]),
        ("timestamp", "2024-01-01 00:10", "2024-01-01 01:00", "30 minutes", ["2024-01-01 00:10", "2024-01-01 00:30", "2024-01-01 01:00"]),
        ("timestamp", "2024-01-03", "2024-01-09", "week", ["2024-01-03 00:00", "2024-01-08 00:00"]),
        ("time", "06:00", "20:59", "6 hours", ["06:00", "12:00", "18:00"]),
        ("duration", "-01:00:00", "01:59:00", "hour", ["-01:00:00", "00:00:00", "01:00:00"]),
    ],
)
def test_bins_have_round_widths(kind: str, lower: str, upper: str, width: str, starts: list[str]) -> None:
    attribute = Attribute.binned("x", kind, lower, upper, width=width, precision="minute")
    assert [attribute.scale.stated_edge(edge) for edge in attribute.edges[:-1]] == starts
    stated = Domain((attribute,)).to_json()
    assert Domain.from_json(stated) == Domain((attribute,))


def test_many_values_get_bins_that_people_would_choose() -> None:
    year = Attribute.binned("x", "timestamp", "2024-01-01", "2024-12-31", precision="minute")
    assert year.stated_bins() == {"width": "month"}
    assert Attribute.binned("x", "time", "00:00", "23:59", precision="minute").stated_bins()["bins"] == 24
    assert Attribute.binned("x", "time", "00:00", "23:00", precision="hour").values == 24


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "fields", "message"),
    [
        ("timestamp", "soon", "2024-01-01", {}, "a timestamp cannot be read"),
        ("time", "10:00", "24:00", {}, "a time of day cannot be read"),
        ("time", "10:00", "09:00", {}, "is below"),
        ("duration", "x", "10:00", {}, "a duration cannot be read"),
        ("time", "10:00", "11:00", {"precision": "day"}, "its precision is not known"),
        ("integer", 0, 1, {"precision": "hour"}, "its precision is not known"),
        ("timestamp", "1500-01-01", "2024-01-01", {"precision": "microsecond"}, "are not both timestamps"),
        ("time", "10:00", "11:00", {"width": "month"}, "the width is not known"),
        ("timestamp", "1900-01-01", "2024-01-01", {"width": "minute"}, "too many bins"),
    ],
)
def test_what_cannot_be_is_refused_with_its_column(kind: str, lower: object, upper: object, fields: dict[str, str], message: str) -> None:
    refused(Attribute.binned, "x", kind, lower, upper, **fields, saying=rf"column 'x': .*{message}")


@pytest.mark.parametrize(
    ("values", "kind", "lower", "precision"),
    [
        (["2024-01-01 10:30", "2024-02-01 11:00"], "timestamp", "2024-01-01 10:30", "minute"),
        (["01.01.2024 10:30:05", "02.01.2024 11:00:00"], "timestamp", "2024-01-01 10:30:05", "second"),
        ([datetime(2024, 1, 1, 5), datetime(2024, 1, 2, 6)], "timestamp", "2024-01-01 05:00", "hour"),
        (["10:30", "23:15"], "time", "10:30", "minute"),
        ([time(10, 30), time(11, 0)], "time", "10:30", "minute"),
        (["10:30", "36:15"], "duration", "10:30:00", "minute"),
        ([timedelta(seconds=1), timedelta(hours=30)], "duration", "00:00:01", "second"),
        (["2024-01-01 00:00", "2024-02-01 00:00"], "date", "2024-01-01", ""),
        ([datetime(2024, 1, 1), datetime(2024, 1, 2)], "date", "2024-01-01", ""),
        (["a:30", "b:15"], "categorical", None, ""),
    ],
)
def test_a_guess_knows_times_from_days(values: list[object], kind: str, lower: str | None, precision: str) -> None:
    table = pa.table({"x": pa.array(values * 30)}).to_pandas()
    guess = propose(table, TableFormat(date_format="dd.mm.yyyy")).value[0]
    assert guess.attribute is not None
    assert (guess.attribute.kind, guess.attribute.precision) == (kind, precision)
    assert lower is None or guess.attribute.scale.stated(guess.attribute.lower) == lower


def test_what_a_file_declares_is_the_kind() -> None:
    kinds = {"m": pa.timestamp("ns"), "t": pa.time64("us"), "s": pa.duration("s"), "d": pa.date64()}
    assert [declared_type(pa.field("x", kind)).kind for kind in kinds.values()] == ["timestamp", "time", "duration", "date"]
    hour, moment = domain_json([declared("t", "time", label="Hour"), declared("m", "timestamp")])["attributes"]
    assert Domain.from_json({"version": 1, "attributes": [hour]})["t"].values == 24
    assert (moment["kind"], "to_do" in moment) == ("timestamp", True)


def test_the_fit_check_counts_what_is_no_time() -> None:
    column = pa.array(["2024-01-01 10:00", "later", None, "2025-01-01"])
    assert outside(ADMITTED, column, GERMAN) == 2


@pytest.mark.parametrize("attribute", [ADMITTED, HOUR, STAY])
def test_the_domain_page_keeps_every_field(attribute: Attribute) -> None:
    assert ColumnDraft.of(attribute).complete() == attribute


def test_the_domain_page_reads_widths_as_people_say_them() -> None:
    row = ColumnDraft.of(ADMITTED).changed(lower="2024-01-01 00:00", upper="2024-01-14 23:59")
    widths = {"hours": 336, "12 hours": 28, "days": 14, "week": 2, "weeks": 2, "1440": 14, "4 bins": 4}
    assert {text: row.changed(**row.read_bins(text)).attribute().values for text in widths} == widths
    refused(row.changed(**row.read_bins("fortnight")).complete, saying="column 'a': the width is not known")


@pytest.mark.parametrize(
    ("kind", "lower", "edges"), [("date", "9999-12-01", ["9999-12-09"]), ("timestamp", "9999-12-31", ["9999-12-31 07:00"])]
)
def test_the_last_day_of_all_can_be_a_bound(kind: str, lower: str, edges: list[str]) -> None:
    domain = Domain((Attribute.binned("x", kind, lower, "9999-12-31", edges=edges),))
    assert Domain.from_json(domain.to_json()) == domain
    assert not strays(domain, decode(domain, np.array([[0], [1]], dtype=np.int32), np.random.default_rng(0)))
