"""Writes docs/reference/ anew from the program: `python -m docs.generate`. A test compares what is there with what this makes.

Each page is a table of what one part of the program says of itself; there is no prose here to go out of date.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dpsynth_core.cli import command_line
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy import registry as operation_registry
from dpsynth_core.vocabulary.kinds.registry import KINDS

FOLDER = Path(__file__).parent / "reference"
COMMAND = "python -m docs.generate"


def pages() -> dict[str, str]:
    """Every page of the reference as Markdown, by the name of its file."""
    made = {
        "mechanisms.md": ("Mechanisms and their parameters", _mechanisms()),
        "command-line.md": ("Commands and their options", _command_line()),
        "spec.md": ("Fields of a spec", _spec()),
        "domain.md": ("Kinds of columns and their fields", _domain()),
        "charges.md": ("What operations of the kernel are charged as", _charges()),
    }
    index = ["# Reference", "", *(f"- [{title}]({name})" for name, (title, _) in made.items())]
    texts = {"README.md": index, **{name: [f"# {title}", "", *lines] for name, (title, lines) in made.items()}}
    note = f"<!-- Generated: {COMMAND} -->"
    return {name: re.sub(r"\n{3,}", "\n\n", "\n".join([note, "", *lines])).rstrip() + "\n" for name, lines in texts.items()}


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """A table without the columns that are empty in all rows."""
    kept = [at for at in range(len(heads)) if any(str(row[at]) for row in rows)]
    for row in (heads, ["---"] * len(heads), *rows):
        cells = [re.sub(r"\s+", " ", str(row[at])).replace("|", "\\|").replace("<", "&lt;") for at in kept]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _code(value: object) -> str:
    return f"`{value}`" if value not in ("", None) else ""


def _mechanisms() -> Iterator[str]:
    described = {entry["name"]: entry for entry in registry.describe()}
    for purpose in registry.PURPOSES:
        yield from (f"## {purpose.title}", "", purpose.sentence, "")
        for mechanism in purpose.mechanisms:
            yield from _mechanism(described[mechanism.card.name])


def _mechanism(entry: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### `{entry['name']}`: {entry['title']}", "", entry["summary"], "")
    yield from (f"{entry['paper']}. {entry['accountant']}. {'Writes rows.' if entry['makes_rows'] else 'Noisy tables, no rows.'}", "")
    yield from (f"**Why it is private.** {entry['privacy']}", "")
    if entry["differences"]:
        yield from ("Where it differs from its paper:", "", *(f"- {difference}" for difference in entry["differences"]), "")
    printed = entry["as_published"] or {"settings": {}, "chosen": []}
    rows = [
        [_code(one["name"]), _code(one["default"]), _code(printed["settings"].get(one["name"])), _limits(one), one["help"]]
        for one in entry["parameters"]
    ]
    if rows:
        yield from _table(("parameter", "default", "`preset=paper`", "values", "meaning"), rows)
    if printed["chosen"]:
        yield from ("Left open by the paper, or kept, with `preset=paper`:", "", *(f"- {one}" for one in printed["chosen"]), "")


def _limits(parameter: Mapping[str, Any]) -> str:
    return ", ".join(map(str, parameter["options"])) or f"{parameter['low']} to {parameter['high']}"


def _command_line() -> Iterator[str]:
    yield from _command(command_line.parser(), "")


def _command(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    commands = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in commands:
        purposes = {choice.dest: choice.help for choice in action._choices_actions}
        for command, child in action.choices.items():
            yield from (f"{'##' if not name else '###'} `{f'{name} {command}'.strip()}`", "", f"{purposes[command]}", "")
            yield from _command(child, f"{name} {command}".strip())
    rows = [_option(parser, action) for action in parser._actions if action not in commands and action.dest != "help"]
    if rows:
        yield from _table(("option", "needed", "meaning"), rows)


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> tuple[str, str, str]:
    formatter = parser._get_formatter()
    named = action.dest.upper() if action.option_strings else action.dest
    value = "" if action.nargs == 0 else formatter._metavar_formatter(action, named)(1)[0]
    meaning = formatter._expand_help(action) if action.help else ""
    needed = action.required if action.option_strings else action.nargs != "?"
    return _code(" ".join([*action.option_strings[:1], value]).strip()), "yes" if needed else "", meaning


def _spec() -> Iterator[str]:
    schema = Spec.model_json_schema()
    yield from _fields("The whole document", schema)
    for name, part in schema["$defs"].items():
        yield from _fields(name, part)


def _fields(title: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {title}", "", schema.get("description", ""), "")
    required = schema.get("required", ())
    rows = [
        [_code(name), _type(field), "needed" if name in required else _code(json.dumps(field["default"])) if "default" in field else ""]
        for name, field in schema.get("properties", {}).items()
    ]
    yield from _table(("field", "value", "unless given"), rows)


_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "maxLength": "characters at most",
}


def _type(field: Mapping[str, Any]) -> str:
    """A JSON schema in a few words."""
    if "anyOf" in field:
        return " or ".join(_type(one) for one in field["anyOf"])
    if "$ref" in field:
        return f"[{(name := field['$ref'].rsplit('/', 1)[-1])}](#{name.lower()})"
    if "enum" in field or "const" in field:
        return ", ".join(_code(json.dumps(one)) for one in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}" if field.get("items") else "list"
    limits = [f"{words} {field[limit]:,}" for limit, words in _LIMITS.items() if limit in field]
    return ", ".join([field.get("type", "any"), *limits])


def _domain() -> Iterator[str]:
    for kind in KINDS.values():
        yield from (f"## `{kind.name}`", "", f"{kind.help} Its cells: {kind.form.value}.", "")
        yield from (f"Fields beside name, kind and label: {', '.join(map(_code, kind.fields))}.", "")
        if kind.precisions:
            yield from (f"Precisions: {', '.join(map(_code, kind.precisions))}.", "")
        if kind.learnable:
            yield from ('Its values can be learnt with noise (`"discover": true`).', "")
        if kind.options:
            rows = [[_code(option.field), ", ".join(map(_code, option.choices)), option.help] for option in kind.options]
            yield from _table(("field", "values", "meaning"), rows)


def _charges() -> Iterator[str]:
    operations = operation_registry.everything().values()
    rows = [
        [_code(one.name), one.event.__name__ if one.event else "free", ", ".join(map(_code, one.signature.parameters)), _first(one)]
        for one in operations
    ]
    yield from ("Propositions are in [proofs](../proofs.md).", "")
    yield from _table(("operation", "charged as", "question", "answer"), rows)
    for event in dict.fromkeys(one.event for one in operations if one.event is not None):
        named = ", ".join(f"`{field.name}`" for field in fields(event))  # type: ignore[arg-type]  # every event is a dataclass
        yield from (f"## {event.__name__} ({named})", "", inspect.getdoc(event) or "", "")


def _first(operation: object) -> str:
    """The first paragraph of what an operation says of itself."""
    return inspect.cleandoc(operation.__doc__ or "").partition("\n\n")[0]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
