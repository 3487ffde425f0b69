"""``python -m dpsynth_core``: the command line."""

from __future__ import annotations

import signal
import sys

from dpsynth_core.cli import main

signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end, like Ctrl-C
sys.exit(main())
