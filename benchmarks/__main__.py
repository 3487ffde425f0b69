"""The door of all programs: `python -m benchmarks NAME`, with `--help` behind the name for its options. README.md says what each asks."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from dpsynth_core.foundation.errors import InputError


def main() -> Any:
    """Run the program that is named; its exit code."""
    files = sorted(Path(__file__).parent.glob("[a-z]*.py"))
    programs = [file.stem for file in files if re.search(r"^(def main\(|main = )", file.read_text(encoding="utf-8"), re.MULTILINE)]
    if sys.argv[1:2] == [] or sys.argv[1] not in programs:
        return f"python -m benchmarks NAME, one of: {', '.join(programs)}"
    name = sys.argv.pop(1)
    sys.argv[0] = f"benchmarks {name}"  # in the usage text
    try:
        return import_module(f"benchmarks.{name}").main()
    except InputError as problem:
        return str(problem)


if __name__ == "__main__":
    sys.exit(main())
