"""The wizard as a process of its own on this machine, what of the machine it uses, and the browser that visits it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.table import ROOT


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(*options: str, port: int | None = None, log: Path = Path(os.devnull)) -> Iterator[tuple[str, int]]:
    """Address and process id of a server with this process's DPSYNTH_HOME, from when it answers until the end of the block. log: where
    what it prints goes."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("ab") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        url = f"http://localhost:{port}"
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                    break
            except OSError:
                time.sleep(0.2)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def chromium() -> Iterator[Any]:
    """Playwright's handle of a browser: the file named by CHROMIUM, else /usr/bin/chromium, else Playwright's own."""
    from playwright.sync_api import sync_playwright

    named = os.environ.get("CHROMIUM") or shutil.which("chromium", path="/usr/bin")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=named or None, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def cpu_ms(pid: int) -> float:
    """Processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def forget_peak(pid: int) -> None:
    """Let the kernel measure the largest resident set of one's own process anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def memory_mb(pid: int, field: str) -> float:
    """The resident set of a process: VmRSS now, or VmHWM, the largest since it began or since `forget_peak`."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.findall(rf"{field}:\s+(\d+) kB", status)[0]) / 1024


def demo_draft(columns: Sequence[str], **fields: Any) -> dict[str, Any]:
    """What the wizard holds of a project over these columns of the demo, ready to run. fields: of the plan."""
    from dpsynth_core.sources import demo
    from dpsynth_core.web.shell import document

    about = {"population": "Invented people", "data": {"path": "", "kind": "demo"}, "domain_origin": "codebook"}
    domain = demo.demo_domain().keep(columns)
    draft: dict[str, Any] = document.new() | about | {"domain": domain.to_json()} | fields
    known = {"passed": ["data", "domain", "workload", "budget"], "source": "demo", "label": "demo", "people": 50_000}
    draft["wizard"] |= known | {"columns": list(domain.names)}
    return draft


def released(name: str, draft: dict[str, Any]) -> str:
    """A project of this draft with a finished run: its id."""
    from dpsynth_core.store import dispatch, projects, runs
    from dpsynth_core.store.home import LOCAL_OWNER
    from dpsynth_core.web.shell import document

    project = projects.create(LOCAL_OWNER, name, draft).id
    run = runs.submit(LOCAL_OWNER, project, document.spec(draft, name))
    while runs.get(LOCAL_OWNER, run).active:
        time.sleep(0.2)
        dispatch.pump()
    if runs.get(LOCAL_OWNER, run).state != "done":
        raise RuntimeError("the run did not end well: there is nothing to look at")
    return project
