"""Start a worker process: in a session of its own, so that it survives this server and can be signalled with its children."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import dpsynth_core
from dpsynth_core.foundation.threads import ONE_THREAD
from dpsynth_core.store.home import home


def launch(module: str, argument: str) -> None:
    """Run ``python -m module argument`` in the background, on this home."""
    package = str(Path(dpsynth_core.__file__).parents[1])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [sys.executable, "-m", module, argument],
        cwd=home(),
        env={**ONE_THREAD, **os.environ, "PYTHONPATH": path, "DPSYNTH_HOME": str(home().resolve())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # tracebacks quote data; what may be said goes through the store
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie
