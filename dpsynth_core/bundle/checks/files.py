"""Are the files those of the manifest, safe to open, and in agreement with release.json?"""

from __future__ import annotations

import re

from dpsynth_core import report
from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.bundle.checks.outcome import Open, Wrong, expect, some
from dpsynth_core.bundle.pack import MANIFEST, contents
from dpsynth_core.bundle.passive import active_part
from dpsynth_core.bundle.rounding import NUMBERS, PROGRAMS, contradictions
from dpsynth_core.bundle.unpack import Bundle, parsed
from dpsynth_core.foundation.content import digest_written, held
from dpsynth_core.release import document as releases
from dpsynth_core.report.explore import EXPLORE, is_framed

_PAGES = (".html", ".htm", ".xhtml", ".svg", ".xml")
_LOADING = re.compile(r"!\[|(?:^|[^\\])(?:\\\\)*<[A-Za-z/!?]", re.MULTILINE)
"""Of Markdown: an image, or HTML. This program escapes both marks in what people wrote, and writes neither itself."""


def unchanged(bundle: Bundle) -> str:
    files = bundle.files
    if MANIFEST not in files:
        raise Wrong("there is no MANIFEST.json")
    listed = parsed(MANIFEST, files[MANIFEST])["files"]
    odd = sorted((listed.keys() ^ files.keys()) - {MANIFEST})
    expect(not odd, f"listed or there, but not both: {some(odd)}")
    changed = [name for name, entry in sorted(listed.items()) if files[name].digest.sha256 != entry["sha256"]]
    expect(not changed, f"changed since the bundle was made: {some(changed)}")
    return f"{len(listed):,} files have the SHA-256 that MANIFEST.json states"


def safe_pages(opened: Opened) -> str:
    """Whatever version wrote them: pages of ours never load anything, and one alone runs something, a script that is ours."""
    pages = [name for name in sorted(opened.bundle.files) if name.lower().endswith(_PAGES)]
    for name in pages:
        content = opened.bundle.files[name].read()
        if name == EXPLORE:
            expect(is_framed(content), f"{name} runs another script than this program writes: do not open it")
        else:
            problem = active_part(content)
            expect(not problem, f"{name[:60]} holds {problem}: do not open it")
    if (notebook := opened.bundle.files.get(report.NOTEBOOK)) is not None:
        shown = any(cell.get("outputs") or cell.get("attachments") for cell in parsed(report.NOTEBOOK, notebook)["cells"])
        expect(not shown, f"{report.NOTEBOOK} shows outputs or attachments, of which this program writes none: do not open it")
        texts = ["".join(cell["source"]) for cell in parsed(report.NOTEBOOK, notebook)["cells"] if cell["cell_type"] != "code"]
        expect(not any(map(_LOADING.search, texts)), f"{report.NOTEBOOK} has a text that may load something: do not open it")
    asking = f"; {EXPLORE} runs the script of this program alone" if EXPLORE in pages else ""
    return f"{len(pages):,} pages load nothing from elsewhere{asking}"


def same_copies(opened: Opened) -> str:
    """All files once more from release.json and the rows."""
    release = opened.whole
    rows = {name: digest_written(write) for name, write in releases.row_writers(release).items()}
    parts = contents(release, rows)
    rewritten = rows | {name: held(content).digest for name, content in parts.items() if name != MANIFEST}
    theirs = opened.bundle.files
    different = sorted(name for name, digest in rewritten.items() if name not in theirs or theirs[name].digest != digest)
    strangers = sorted(theirs.keys() - rewritten.keys() - {MANIFEST})
    if different and not opened.other_program:
        wrong = contradictions(release, theirs, parts, different) if opened.other_versions else different
        expect(not wrong, f"they do not say what release.json says: {some(wrong)}")
        different = [name for name in different if name not in NUMBERS]
    if different:
        why = f"made with other versions of {some(opened.other_versions)}, which may write it differently"
        if runs := [name for name in different if name in PROGRAMS]:
            why += f"; read {' and '.join(runs)} before you run it"
        raise Open(f"{some([*different, *strangers], 10)}: {why}")
    if strangers:
        raise Open(f"{some(strangers, 10)}: no part of a release as this program writes it")
    return f"{len(rewritten) + 1:,} files say what release.json says"
