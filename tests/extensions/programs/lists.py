"""What tests of the core find of this extension (`tests.additions`)."""

BUNDLE_FILES = ("analysis.R", "analysis.do", "rows.sas", "rows.sps")
"""Files of every bundle with rows."""
DESCRIBING_COLUMNS = ("analysis.R", "analysis.do", "rows.sas", "rows.sps")
"""Files that describe the columns of rows."""
