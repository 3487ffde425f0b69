"""``python -m dpsynth_core``: the command line."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from dpsynth_core.foundation import interrupts

interrupts.handle()  # before the rest is imported, which takes long enough for Ctrl-C

from dpsynth_core.cli import main  # noqa: E402

code = main()
with suppress(OSError):  # nobody reads it any more
    sys.stdout.flush()
    sys.stderr.flush()
os._exit(code)  # Arrow may still be reading ahead, and its threads abort a process that takes Python down around them
