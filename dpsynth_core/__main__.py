"""``python -m dpsynth_core``: the command line."""

from __future__ import annotations

import sys

from dpsynth_core.foundation import interrupts

interrupts.handle()  # before the rest is imported, which takes long enough for Ctrl-C

from dpsynth_core.cli import main  # noqa: E402

sys.exit(main())
