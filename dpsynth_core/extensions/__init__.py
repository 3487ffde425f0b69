"""Built-in extensions: features that the core does not import, each in a folder that can be deleted (`foundation.extension`)."""

BUILT_IN = ("research",)
"""Folders of the extensions. To remove one, delete its folder here and under `tests/extensions`, and its name in this line."""
