"""Once a server has started, no page waits for a module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECK = """
import ast, sys
from pathlib import Path
from dpsynth_core.web.shell import security
security.load_pages()
for page in Path("pages").glob("*.py"):
    for node in ast.walk(ast.parse(page.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dpsynth_core"):
            assert node.module in sys.modules, (page, node.module)
assert "altair" in sys.modules
"""


def test_the_modules_of_every_page_are_loaded_before_the_first_visit() -> None:
    subprocess.run([sys.executable, "-c", CHECK], cwd=ROOT, check=True, timeout=120)
