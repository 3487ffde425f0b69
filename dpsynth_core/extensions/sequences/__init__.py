"""Persons with several rows in order, such as stays of patients, waves of a panel or trips of a day: who owns a row stays known."""

from dpsynth_core.foundation.extension import Demo, Extension, Layout, Setting, Texts

_HERE = "dpsynth_core.extensions.sequences"

EXTENSION = Extension(
    summary="Rows of one person in order: how many rows a person has, what follows what, and what stays the same for a person.",
    commands=(f"{_HERE}.hospital_command:add",),
    layouts=(
        Layout(
            name="sequences",
            what="rows of a person in order",
            setting="order",
            link=f"{_HERE}.layout:linked",
            source=f"{_HERE}.source:SequenceSource",
            mechanism=f"{_HERE}.mechanism:Sequences",
            of_one="constant",
            parts=f"{_HERE}.one_table:divided",
            columns=f"{_HERE}.one_table:columns",
            made="gap",
            least=2,
            lacks=f"{_HERE}.one_table:lacks",
        ),
        Layout(
            name="events",
            what="rows in order with a third table of events",
            setting="events",
            link=f"{_HERE}.events.layout:linked",
            source=f"{_HERE}.events.source:EventsSource",
            mechanism=f"{_HERE}.events.mechanism:Events",
            columns=f"{_HERE}.events.settings:columns",
            made="gap",
            least=2,
            further=f"{_HERE}.events.settings:further",
            carried=f"{_HERE}.events.files:carried",
        ),
    ),
    demos=(
        Demo(
            kind="demo-stays",
            who="patients",
            title="Patients and their stays, in order",
            label="Simulated patients",
            people=20_000,
            table=f"{_HERE}.hospital:simulate",
            domain=f"{_HERE}.hospital:domain",
            person="patient",
            most=8,
            stated=(("order", ("admitted",)), ("constant", ("sex", "age", "region")), ("gap", ("days_before",))),
        ),
    ),
    views=(
        ("person", f"{_HERE}.order_view:on_data"),
        ("columns", f"{_HERE}.columns_view:on_domain"),
        ("results", f"{_HERE}.transitions_view:on_results"),
    ),
    names=(("rows_in_order", f"{_HERE}.interface:rows_in_order"),),
    row_files=f"{_HERE}.events.files:row_files",
    row_names=r"rows-in-order\.csv|events\.csv",
    row_domain=f"{_HERE}.events.files:row_domain",
    row_copies=f"{_HERE}.in_order:row_copies",
    sections=(f"{_HERE}.sections:transitions",),
    settings=(
        Texts(
            name="order",
            metavar="COLUMN",
            help='rows of one person belong together, in the order of this column of numbers or dates; "file order" for that of the file',
            most=1,
            check=f"{_HERE}.settings:check",
        ),
        Texts(
            name="order_as",
            metavar="KIND",
            help="with --order: how the texts of its column are read: number, date (also times), text (sorted by its letters), or "
            "any (the default: each as a date, a time or a number, whichever it is)",
            most=1,
            check=f"{_HERE}.settings:check",
        ),
        Texts(
            name="constant",
            metavar="COLUMN",
            help="with --order and one table: a column that is the same in all rows of a person; may be repeated",
            most=200,
            check=f"{_HERE}.settings:check",
        ),
        Texts(
            name="gap",
            metavar="COLUMN",
            help="with --order: the column of the second table's domain for the days, or numbers, since the person's row before",
            most=1,
            check=f"{_HERE}.settings:check",
        ),
        Texts(
            name="events",
            metavar="FILE",
            help="with --order and two tables: a third one, of events of the rows; the name of a file in the folder of the second table",
            most=1,
            check=f"{_HERE}.events.settings:check",
        ),
        Texts(
            name="event_key",
            metavar="COLUMN",
            help="with --events: the column that names a row of a person, in the second and the third table",
            most=1,
            check=f"{_HERE}.events.settings:check",
        ),
        Texts(
            name="event_column",
            metavar="COLUMN",
            help="with --events: a column of the second table's domain that is one of the third table; may be repeated",
            most=200,
            check=f"{_HERE}.events.settings:check",
        ),
        Setting(
            name="most_events",
            metavar="N",
            help="with --events: how many events of a row count, from 1 to 6",
            least=1,
            most=6,
            check=f"{_HERE}.events.settings:check",
        ),
    ),
)
