"""Tables of databases: DuckDB, SQLite and PostgreSQL, read by statements that cannot change anything."""

from dpsynth_core.foundation.extension import Entry, Extension, Place

EXTENSION = Extension(
    summary="Tables and queries of DuckDB, SQLite and PostgreSQL, read like files.",
    places=(
        Place(
            kind="database",
            one="a database",
            many="databases",
            pattern=r"(postgres|postgresql|duckdb|sqlite)://.*|(?!.*://).*\.(duckdb|ddb|db|sqlite|sqlite3)",
            local=("duckdb://", "sqlite://"),
            entries=(
                Entry("table", "NAME", "of a database: the table or view, perhaps behind its schema and a point", identifies=True),
                Entry("query", "SQL", "of a database: one SELECT whose rows are the records", identifies=True),
                Entry("timeout", "SECONDS", "of a database: what one statement may take (default: 3600)", whole=True),
            ),
            skips_rows=True,  # a view or query may leave records out because of what they say
            help="or the address of a database: a file that ends in .duckdb, .db or .sqlite, or postgresql://HOST/DATABASE",
            title=":material/database: A database",
            removing="The database stays as it is.",
            unchecked="A database needs no check: it has no lines that could be cut off or run together.",
            read="dpsynth_core.extensions.databases.address:read",
            table="dpsynth_core.extensions.databases.connect:DatabaseTable",
            choosing="dpsynth_core.extensions.databases.view:choosing",
        ),
    ),
)
