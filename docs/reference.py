"""The reference pages of the site that are made from the code, each time the site is built.

`commands.md` has every command of `stackcost` and every script, `experiment-file.md` every key of
an experiment's YAML file, `library.md` every table and column of `import stackcost`. The files of
these names in docs/ are placeholders; conf.py replaces their text by these pages.
"""

import ast
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import stackcost
import stackcost.harness.cli.entry
from stackcost.frames.columns import TABLES
from stackcost.frames.run import Run
from stackcost.harness.cli.application import app
from stackcost.harness.experiment.schema import Experiment

SCRIPTS = Path(__file__).resolve().parents[1] / "script"


def pages() -> dict[str, str]:
    """Markdown of each page by its name without suffix."""
    return {
        "commands": _commands_page(),
        "experiment-file": _experiment_page(),
        "library": _library_page(),
    }


def commands() -> dict[str, Any]:
    """Each command of `stackcost` by name, in the order of `stackcost --help`."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("stackcost", [], resilient_parsing=True)
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


def scripts() -> dict[str, str]:
    """The comment or docstring at the beginning of each script, by the script's path."""
    found = {}
    for path in sorted(SCRIPTS.iterdir()):
        if path.is_file() and not path.suffix:
            shebang, text = path.read_text().split("\n", 1)
            if "python" in shebang:
                found[f"script/{path.name}"] = ast.get_docstring(ast.parse(text)) or ""
            else:
                head = itertools.takewhile(lambda line: line[:1] == "#", text.splitlines())
                found[f"script/{path.name}"] = "\n".join(line[2:] for line in head)
    return found


def _commands_page() -> str:
    index = [f"[{name}](#stackcost-{name})" for name in commands()]
    index += (f"[{path}](#{path.replace('/', '')})" for path in scripts())
    parts = [
        "# Commands\n\nThis page is made from the code. `stackcost COMMAND --help` prints the same."
        " After `script/bootstrap` the program is `.venv/bin/stackcost`. It ends with 0; with 1"
        " and one message after an error; with 2 when the command line is wrong; with 130 after"
        " Ctrl-C.",
        " · ".join(index),
    ]
    parts += (_command(name, command) for name, command in commands().items())
    parts.append("## Scripts\n\nEach is started from the repository's folder.")
    parts += (f"### {path}\n\n```text\n{text}\n```" for path, text in scripts().items())
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any) -> str:
    context: Any = command.make_context(f"stackcost {name}", [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ")
    text = f"## stackcost {name}\n\n{inspect.cleandoc(command.help)}\n\n```text\n{usage}\n```"
    records = itertools.chain(*command.records(context).values())
    own = [(form, meaning) for form, meaning in records if form != "--help"]
    if not own:
        return text
    rows = [f"| `{_code(form)}` | {_cell(meaning)} |" for form, meaning in own]
    return "\n".join([f"{text}\n", "| argument or option | meaning |", "|---|---|", *rows])


def _experiment_page() -> str:
    schema = Experiment.model_json_schema()
    sections = [
        f"{heading}\n\n{section['description']}\n\n{_keys(section, schema)}"
        for heading, section in _sections(schema)
    ]
    return (
        "# Experiment files\n\nThis page is made from the code. An experiment is one YAML file;"
        " `experiments/compare.yaml` is a good one to copy. A key that is not listed here is an"
        " error, and so is a value out of its range: the message names the file and the line."
        " Paths are relative to the experiment's file. The suite's files in `trex_profiles/` and"
        " `published/` are also found by their bare names."
        " [experiment.schema.json](schema/experiment.schema.json) is the same as a JSON schema,"
        " for editors that complete and check YAML.\n\n"
        "A file may also have a section `quick` with the same keys. With `--quick`, its values"
        " replace the others.\n\n" + "\n\n".join(sections) + "\n"
    )


def _library_page() -> str:
    parts = [
        "# Python library\n\nThis page is made from the code."
        " [Plot it yourself](plot-it-yourself.md) has examples.",
        f"```text\nstackcost.open{inspect.signature(stackcost.open)}\n```\n\n"
        f"{inspect.getdoc(stackcost.open)}",
        f"## Run\n\n{inspect.getdoc(Run)}",
    ]
    parts += (_method(name) for name in ("samples", "columns"))
    parts += (_table(name) for name in TABLES)
    return "\n\n".join(parts) + "\n"


def _method(name: str) -> str:
    method = getattr(Run, name)
    signature = str(inspect.signature(method)).replace("self, ", "")
    return f"### {name}\n\n```text\nrun.{name}{signature}\n```\n\n{inspect.getdoc(method)}"


def _table(name: str) -> str:
    rows = ["| column | unit | definition |", "|---|---|---|"]
    rows += (
        f"| `{c}` | {_cell(a.unit)} | {_cell(a.definition)} |" for c, a in TABLES[name].items()
    )
    rows_of = f"run.{name}()" if name == "samples" else f"run.{name}"
    about = inspect.getdoc(getattr(Run, name)) or ""
    return "\n".join([f"## {name}\n\n`{rows_of}`: {about.splitlines()[0]}\n", *rows])


def _sections(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The whole file first, then each section under the key that holds it."""
    yield "## The whole file", schema
    yield from _below(schema, schema, "")


def _below(
    section: dict[str, Any], schema: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each section below `section`, with its heading; `path`: the keys that lead to `section`."""
    for key, value in section["properties"].items():
        for name in _references(value):
            below = schema["$defs"][name]
            if "properties" in below:
                yield f"({key})=\n## {path}{key}", below
                yield from _below(below, schema, f"{path}{key}.")


def _references(value: Any) -> Iterator[str]:
    """Names of the definitions that the schema of a value refers to."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].rpartition("/")[2]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def _keys(section: dict[str, Any], schema: dict[str, Any]) -> str:
    rows = ["| key | meaning | value | default |", "|---|---|---|---|"]
    needed = section.get("required", [])
    for key, value in section["properties"].items():
        below = [name for name in _references(value) if "properties" in schema["$defs"][name]]
        form = f"[section](#{key})" if below else _form(value)
        default = "required" if key in needed else "" if below else _default(value["default"])
        meaning = _cell(value.get("description", ""))
        rows.append(f"| `{key}` | {meaning} | {_cell(form)} | {default} |")
    return "\n".join(rows)


def _default(default: Any) -> str:
    """The default as it is written in the file; empty if it only means that the key is left out."""
    if default in (None, [], "."):
        return ""
    if isinstance(default, list):
        return ", ".join(map(_default, default))
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _form(value: dict[str, Any]) -> str:
    """The values that are allowed, in words."""
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        forms = (_form(each) for each in value["anyOf"] if each.get("type") != "null")
        return "; or ".join(dict.fromkeys(forms))
    if value.get("pattern") == r"\.py$":
        return "a path that ends with `.py`"
    if value.get("type") == "array":
        return f"list of: {_form(value['items'])}"
    return _scalar(value)


def _scalar(value: dict[str, Any]) -> str:
    kinds = {"string": "text", "integer": "whole number", "number": "number", "boolean": "boolean"}
    kind = {"ipv4": "IPv4 address", "path": "path"}.get(value.get("format", ""))
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {value[name]:,}" for name, sign in signs.items() if name in value]
    return ", ".join([kind or kinds[value["type"]], *bounds])


def _cell(text: str) -> str:
    """Text for a table's cell: without line breaks, without a bar that ends it, without HTML."""
    return _code(text).replace("<", "&lt;")


def _code(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")
