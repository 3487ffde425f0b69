"""The command line. Tools and the scripts in bundles call `main`."""

from __future__ import annotations

from dpsynth_core.cli.command_line import BAD_INPUT, FAILED, INTERRUPTED, main

__all__ = ["BAD_INPUT", "FAILED", "INTERRUPTED", "main"]
