"""Writes docs/reference/ anew from the program: `python -m docs.generate`. A test compares what is there with what this makes.

Each page is a table of what one part of the program says of itself; there is no prose here to go out of date.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from textwrap import dedent
from typing import Any

import dpsynth_core
from docs import mechanism_pages, schemas
from docs.markdown import code, table
from dpsynth_core.cli import command_line
from dpsynth_core.foundation import extension
from dpsynth_core.interface.plan import Options
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy import registry as operation_registry
from dpsynth_core.vocabulary.kinds.registry import KINDS

FOLDER = Path(__file__).parent / "reference"
SCHEMAS = FOLDER / "schemas"
COMMAND = "python -m docs.generate"


def pages() -> dict[str, str]:
    """Every page of the reference as Markdown, by the name of its file."""
    made = {
        "mechanisms/README.md": ("Mechanisms", mechanism_pages.index()),
        "command-line.md": ("Commands and their options", _command_line()),
        "python.md": ("The interface for Python programs", _python()),
        "spec.md": ("Fields of a spec", _spec()),
        "domain.md": ("Kinds of columns and their fields", _domain()),
        "charges.md": ("What operations of the kernel are charged as", _charges()),
    }
    index = ["# Reference", "", *(f"- [{title}]({name})" for name, (title, _) in made.items())]
    index += ["", "JSON Schemas of domain, workload, criteria, spec and release are in `docs/reference/schemas/`, for editors."]
    made |= {f"mechanisms/{name}": page for name, page in mechanism_pages.pages().items()}
    texts = {"README.md": index, **{name: [f"# {title}", "", *lines] for name, (title, lines) in made.items()}}
    note = f"<!-- Generated: {COMMAND} -->"
    return {name: re.sub(r"\n{3,}", "\n\n", "\n".join([note, "", *lines])).rstrip() + "\n" for name, lines in texts.items()}


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
        yield from table(("option", "needed", "meaning"), rows)


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> tuple[str, str, str]:
    formatter = parser._get_formatter()
    named = action.dest.upper() if action.option_strings else action.dest
    value = "" if action.nargs == 0 else formatter._metavar_formatter(action, named)(1)[0]
    meaning = formatter._expand_help(action) if action.help else ""
    needed = action.required if action.option_strings else action.nargs != "?"
    return code(" ".join([*action.option_strings[:1], value]).strip()), "yes" if needed else "", meaning


def _python() -> Iterator[str]:
    yield from ("`import dpsynth_core as dps`. A test runs the examples.", "")
    named = {name: getattr(dpsynth_core, name) for name in (*dpsynth_core.__all__, *extension.names())}
    for name, value in sorted(named.items(), key=lambda one: inspect.isclass(one[1])):
        yield from (f"## `dps.{name}`", "", *_signature(name, value), *_docstring(value))
        for member, part in _members(value):
            yield from (f"### `{name}.{member}`", "", *_signature(member, part), *_docstring(part))
    yield from ("## Options of `dps.plan`", "", *_docstring(Options))
    yield from table(("option", "type"), [[code(name), code(kind.__forward_arg__)] for name, kind in Options.__annotations__.items()])


def _members(value: Any) -> Iterator[tuple[str, object]]:
    """What a class or a module has of its own for everybody."""
    home = value.__name__ if inspect.ismodule(value) else value.__module__
    for name, part in vars(value).items():
        ours = isinstance(part, property | cached_property) or (inspect.isfunction(part) and part.__module__ == home)
        if ours and not name.startswith("_"):
            yield name, part


def _signature(name: str, value: object) -> Iterator[str]:
    """How a function is called; nothing for all else."""
    if inspect.isfunction(value):
        plain = re.sub(r"(: |-> )'([^']+)'", r"\1\2", str(inspect.signature(value)))  # annotations are texts
        yield from ("```python", f"{name}{re.sub(r'^.self(, )?', '(', plain)}", "```", "")


_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Examples):\n(?= )", re.MULTILINE)


def _docstring(value: object) -> Iterator[str]:
    """Yield a docstring with sections in Google's style as Markdown."""
    first, *parts = _SECTION.split((inspect.getdoc(value) or "").replace("``", "`"))
    yield from (first.strip(), "")
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        section, _, rest = dedent(body).strip().partition("\n\n")
        yield from (f"**{'Parameters' if title == 'Args' else title}**", "")
        if title == "Examples":
            yield from ("```python", inspect.cleandoc(body), "```", "")
        else:
            yield from ([section] if title == "Returns" else _entries(section))
            yield from ("", *((rest, "") if rest else ()))


def _entries(section: str) -> Iterator[str]:
    """Yield each entry of a section, a name and a text, as an item of a list."""
    for entry in re.split(r"\n(?=\S)", section):
        name, _, said = " ".join(entry.split()).partition(": ")
        yield f"- `{name}`: {said}"


def _spec() -> Iterator[str]:
    schema = Spec.model_json_schema()
    yield from _fields("The whole document", schema)
    for name, part in schema["$defs"].items():
        yield from _fields(name, part)


def _fields(title: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {title}", "", schema.get("description", ""), "")
    required = schema.get("required", ())
    rows = [
        [code(name), _type(field), "needed" if name in required else code(json.dumps(field["default"])) if "default" in field else ""]
        for name, field in schema.get("properties", {}).items()
    ]
    yield from table(("field", "value", "unless given"), rows)


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
        return ", ".join(code(json.dumps(one)) for one in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}" if field.get("items") else "list"
    limits = [f"{words} {field[limit]:,}" for limit, words in _LIMITS.items() if limit in field]
    return ", ".join([field.get("type", "any"), *limits])


def _domain() -> Iterator[str]:
    for kind in KINDS.values():
        yield from (f"## `{kind.name}`", "", f"{kind.help} Its cells: {kind.form.value}.", "")
        yield from (f"Fields beside name, kind and label: {', '.join(map(code, kind.fields))}.", "")
        if kind.precisions:
            yield from (f"Precisions: {', '.join(map(code, kind.precisions))}.", "")
        if kind.learnable:
            yield from ('Its values can be learnt with noise (`"discover": true`).', "")
        if kind.options:
            rows = [[code(option.field), ", ".join(map(code, option.choices)), option.help] for option in kind.options]
            yield from table(("field", "values", "meaning"), rows)


def _charges() -> Iterator[str]:
    operations = operation_registry.everything().values()
    rows = [
        [code(one.name), one.event.__name__ if one.event else "free", ", ".join(map(code, one.signature.parameters)), _first(one)]
        for one in operations
    ]
    yield from ("Propositions are in [proofs](../proofs.md).", "")
    yield from table(("operation", "charged as", "question", "answer"), rows)
    for event in dict.fromkeys(one.event for one in operations if one.event is not None):
        named = ", ".join(f"`{field.name}`" for field in fields(event))  # type: ignore[arg-type]  # every event is a dataclass
        yield from (f"## {event.__name__} ({named})", "", inspect.getdoc(event) or "", "")


def _first(operation: object) -> str:
    """The first paragraph of what an operation says of itself."""
    return inspect.cleandoc(operation.__doc__ or "").partition("\n\n")[0]


def main() -> None:
    for folder in (FOLDER / "mechanisms", SCHEMAS):
        folder.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.rglob("*.md"):
        old.unlink()
    for folder, made in ((FOLDER, pages()), (SCHEMAS, schemas.files())):
        for name, text in made.items():
            (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
