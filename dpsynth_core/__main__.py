"""``python -m dpsynth_core``: the command line."""

from __future__ import annotations

import sys

from dpsynth_core.cli import main

sys.exit(main())
