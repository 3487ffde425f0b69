"""``python -m dpsynth_core``: the command line."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress

from dpsynth_core.foundation import allocation, interrupts, threads

threads.limit()  # before NumPy is loaded
allocation.keep_freed_memory()
interrupts.handle()  # before the rest is imported, which takes long enough for Ctrl-C

from dpsynth_core.cli import main  # noqa: E402

if not sys.warnoptions:
    warnings.simplefilter("ignore")  # of libraries: they print lines that nobody was promised, of their own sources

code = main()
with suppress(OSError):  # nobody reads it any more
    sys.stdout.flush()
    sys.stderr.flush()
os._exit(code)  # Arrow may still be reading ahead, and its threads abort a process that takes Python down around them
