"""What tests of the core find of this extension (`tests.additions`)."""

BUNDLE_FILES = ("codebook.xml", "datapackage.json")
"""Files of every bundle with rows."""
DESCRIBING_COLUMNS = ("datapackage.json",)
"""Files that describe the columns of rows."""
STATING_SOURCES = ("codebook.xml",)
"""Files that state what was taken as published."""
