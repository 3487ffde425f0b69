"""``dpsynth-studio``, and ``python -m dpsynth_core``: the command line; alone, the app."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from typing import NoReturn

from dpsynth_core.foundation import allocation, interrupts, threads


def main() -> NoReturn:
    """Run the command line, and end the process with its exit code."""
    threads.limit()  # before NumPy is loaded
    allocation.keep_freed_memory()
    interrupts.handle()  # before the rest is imported, which takes long enough for Ctrl-C
    from dpsynth_core import cli

    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # of libraries: they print lines that nobody was promised, of their own sources
    code = cli.main(sys.argv[1:] or ["studio"])
    with suppress(OSError):  # nobody reads it any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # Arrow may still be reading ahead, and its threads abort a process that takes Python down around them


if __name__ == "__main__":
    main()
