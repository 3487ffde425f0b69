"""What tests of the core find of this extension (`tests.additions`)."""

BUNDLE_FILES = ("synthetic.csv-metadata.json",)
"""Files of every bundle with rows."""
DESCRIBING_COLUMNS = ("synthetic.csv-metadata.json",)
"""Files that describe the columns of rows."""
BESIDE = ("-metadata.json",)
"""Ends of the names of files beside each CSV of rows."""
