"""Run one command and print what it cost as JSON. Imports next to nothing.

Linux counts what a process was before it became its program: started by a benchmark that holds tables and charts, every program
would seem to need as much memory as the benchmark. Started from here, it begins with a few megabytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main() -> int:
    load, start = os.getloadavg()[0], time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=sys.stderr)
    _, status, usage = os.wait4(process.pid, 0)  # not Popen.wait: only wait4 tells what this one process used
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    peak_bytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    cost = {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_mb": round(peak_bytes / 2**20),
        "load": round(max(load, os.getloadavg()[0]), 2),
    }
    print(json.dumps(cost))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
