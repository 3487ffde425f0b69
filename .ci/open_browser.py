"""Open the wizard in the user's browser as soon as the server answers; does nothing where there is no desktop.

Streamlit opens a browser for plain scripts only, not for an app with its own middleware.  Argument: the URL.
"""

from __future__ import annotations

import os
import sys
import time
import urllib.error
import urllib.request
import webbrowser

WAIT_SECONDS = 60


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def main(url: str) -> None:
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if healthy(url):
            webbrowser.open(url)
            return
        time.sleep(0.3)


if __name__ == "__main__":
    main(sys.argv[1])
