"""What tests of the core find of this extension (`tests.additions`)."""

BUNDLE_FILES = ("evidence.json",)
"""Files of every bundle with rows and a certificate."""
