"""Checks that the files match the manifest, are safe to open, and agree with release.json."""

from __future__ import annotations

import csv
import io
import json
import re

import pyarrow.parquet as pq

from dpsynth_core import report
from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.bundle.pack import MANIFEST, SCRIPT, contents, manifest
from dpsynth_core.bundle.passive import active_part
from dpsynth_core.bundle.rounding import rounded, same
from dpsynth_core.bundle.signature import MAX_BYTES, SIGNATURE, key_of
from dpsynth_core.bundle.unpack import DAMAGE, Bundle, parsed
from dpsynth_core.claims.outcome import Nothing, Open, Wrong, expect, some
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.content import Content, digest_written, in_memory
from dpsynth_core.release import document as releases
from dpsynth_core.report.explore import EXPLORE, is_framed
from dpsynth_core.report.table_files import FIRST, SENTENCES, earlier_errors_csv, marginal_csvs

PROGRAMS = (SCRIPT, report.NOTEBOOK)
"""Files that a reader would run; no number in them is rounded."""
_TABLES = (".csv", ".parquet")
_EARLIER_ERRORS = b'"attributes","measured_error"'
"""Beginning of errors.csv of versions that wrote distances and not shares."""
_PAGES = (".html", ".htm", ".xhtml", ".svg", ".xml")
_LOADING = re.compile(r"!\[|(?:^|[^\\])(?:\\\\)*<[A-Za-z/!?]", re.MULTILINE)
"""An image or HTML in Markdown. This program escapes both marks in people's texts, and writes neither itself."""


def unchanged(bundle: Bundle) -> str:
    """Check that the manifest lists exactly the other files of the bundle, each with its SHA-256.

    The manifest itself and SIGNATURE.json need not be listed.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        InputError: The manifest is not JSON.
    """
    files = bundle.files
    if MANIFEST not in files:
        raise Wrong("there is no MANIFEST.json")
    listed = parsed(MANIFEST, files[MANIFEST])["files"]
    odd = sorted((listed.keys() ^ files.keys()) - {MANIFEST, SIGNATURE})
    expect(not odd, f"listed or there, but not both: {some(odd)}")
    changed = [name for name, entry in sorted(listed.items()) if files[name].digest.sha256 != entry["sha256"]]
    expect(not changed, f"changed since the bundle was made: {some(changed)}")
    return f"{len(listed):,} files have the SHA-256 that MANIFEST.json states"


def signed_by(bundle: Bundle) -> str:
    """Check the signature of the bundle, and return the public key of the signer, 64 hexadecimal digits.

    Whose key that is cannot be checked.

    Raises:
        Wrong: The signature is not valid, or files were changed.
        Nothing: The bundle is not signed.
    """
    files, document = bundle.files, bundle.document
    if SIGNATURE not in files:
        raise Nothing("it is unsigned: nothing ties its maker's statements to anybody")
    unchanged(bundle)
    expect(files[SIGNATURE].digest.size <= MAX_BYTES, f"{SIGNATURE} is not a signature")
    try:
        return key_of(files[SIGNATURE].read(), files[MANIFEST].read(), document["spec_sha256"], document["ledger"])
    except DAMAGE:
        raise Wrong(f"{SIGNATURE} does not hold a valid signature of this bundle") from None


def safe_pages(opened: Opened) -> str:
    """Check that pages, of this or any other version, are safe to open.

    Pages of this program never load anything, and only explore.html runs a script, which must be
    this program's.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
    """
    pages = [name for name in sorted(opened.bundle.files) if name.lower().endswith(_PAGES)]
    passive = {name: path for one in extension.built_in() for name, path in one.passive}
    for name in pages:
        content = opened.bundle.files[name].read()
        if name == EXPLORE:
            expect(is_framed(content), f"{name} runs another script than this program writes: do not open it")
        elif name in passive:
            expect(extension.load(passive[name])(content), f"{name} holds more than its format allows: do not open it in a browser")
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
    """Write all files again from release.json and the rows, and compare them with the bundle's.

    The data card is written for the bundle's files of rows, as they are: whether their rows are the
    same is the question of `rows.same_rows`.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Open: Files differ as another version of the program or its libraries may write them, or the
            bundle has further files.
    """
    theirs = opened.bundle.files
    rows = {name: digest_written(write) for name, write in releases.row_writers(opened.with_rows).items()}
    parts = contents(opened.with_rows, {name: theirs[name].digest if name in theirs else digest for name, digest in rows.items()})
    if FIRST in theirs and FIRST not in parts:  # many tables had a file each, once
        parts |= marginal_csvs(opened.with_rows, every=True)
    if opened.other_program and (stated := theirs.get(report.ERRORS)) is not None and stated.read().startswith(_EARLIER_ERRORS):
        parts[report.ERRORS] = earlier_errors_csv(opened.with_rows)
    parts[MANIFEST] = manifest({name: content.digest for name, content in theirs.items() if name not in (MANIFEST, SIGNATURE)})
    rewritten = rows | {name: in_memory(content).digest for name, content in parts.items()}
    different = sorted(name for name, digest in rewritten.items() if name not in theirs or theirs[name].digest != digest)
    strangers = sorted(theirs.keys() - rewritten.keys() - {SIGNATURE})
    if opened.other_versions:
        judged = {name: _judged(opened, name, parts.get(name, b"")) for name in different}
        wrong, different = ([name for name in different if judged[name] is found] for found in (False, None))
    else:
        wrong = different
    expect(not wrong, f"they do not say what release.json says: {some(wrong)}")
    if different and opened.other_program:
        why = f"not compared: written by another version; read the report that this program writes from {releases.DOCUMENT} instead"
        raise Open(f"{some([*different, *strangers], 10)}: {why}")
    if different:
        why = f"made with other versions of {some(opened.other_versions)}, which may round a last digit otherwise"
        raise Open(f"{some([*different, *strangers], 10)}: {why}")
    if strangers:
        raise Open(f"{some(strangers, 10)}: no part of a release as this program writes it")
    return f"{len(rewritten):,} files say what release.json says"


def _judged(opened: Opened, name: str, ours: bytes) -> bool | None:
    """Return whether a file that other versions of libraries or the program wrote agrees with ours.

    Args:
        opened: The bundle.
        name: The name of a file whose bytes differ.
        ours: The content as this program writes it.

    Returns:
        True if the contents agree up to rounding, False if they do not, None if that is open.
    """
    content = opened.bundle.files.get(name)
    if content is None:
        return None if opened.other_program and name not in PROGRAMS else False
    if releases.holds_rows(name):
        return True if name == releases.ROWS_PARQUET else None  # `rows.same_rows` compares its values
    if name in PROGRAMS:
        same_code = opened.other_program and name == report.NOTEBOOK and _code(content) == _code(in_memory(ours))
        return None if same_code else False
    mine, other = _text(name, ours), _text(name, content.read())
    if same(mine, other):
        return True
    if rounded(mine, other):
        return None
    if opened.other_program and name == report.CODEBOOK and _without_sentences(mine) == _without_sentences(other):
        return None  # versions say in other words what happens to values outside
    comparable = name.endswith(_TABLES) and mine.partition("\n")[0] == other.partition("\n")[0]
    return None if opened.other_program and not comparable else False


def _text(name: str, content: bytes) -> str:
    """Return a file's content as comparable text; Parquet is written out as JSON lines.

    Raises:
        Wrong: The file is not UTF-8.
    """
    if name == report.MARGINALS:
        table = pq.read_table(io.BytesIO(content))
        laid_out = table.schema.to_string(show_field_metadata=True, show_schema_metadata=True)
        return "\n".join((laid_out.replace("\n", "; "), *map(json.dumps, table.to_pylist())))
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Wrong(f"{name} is not a text") from None


def _without_sentences(codebook: str) -> list[list[str]]:
    """Return the lines of codebook.csv without the columns `SENTENCES`; [] for text that is not CSV."""
    try:
        lines = list(csv.reader(io.StringIO(codebook)))
    except csv.Error:
        return []
    left_out = {place for line in lines[:1] for place, name in enumerate(line) if name in SENTENCES}
    return [[field for place, field in enumerate(line) if place not in left_out] for line in lines]


def _code(notebook: Content) -> list[str]:
    return ["".join(cell["source"]) for cell in parsed(report.NOTEBOOK, notebook)["cells"] if cell["cell_type"] == "code"]
