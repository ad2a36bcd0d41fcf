"""Writes the pages of docs/ that are made from the code: python docs/reference.py.

`commands.md` has every command of `stackcost` and every script, `experiment-file.md` every key of
an experiment's YAML file, `library.md` every table and column of `import stackcost`, `figures.md`
every figure of a summary.
"""

import ast
import inspect
import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

import stackcost
import stackcost.cli.entry
from stackcost.analysis.figures import registry
from stackcost.analysis.figures.figure import Declared
from stackcost.cli.application import app
from stackcost.experiment.schema import Experiment
from stackcost.report.library.columns import TABLES, Column
from stackcost.report.library.run import Run

DOCS = Path(__file__).resolve().parent
SCRIPTS = DOCS.parent / "script"
WIDTH = 100  # columns
WHOLE = "The whole file"
NO_BOUND = 10_000  # a limit from here on is not worth the reader's time
FIGURES_OF = {
    "load": "Of each load",
    "http": "Of each test of HTTP clients",
    "memory": "Of flows that were held open",
    "pair": "Of two systems",
    "ceiling": "Of searches for a ceiling",
    "event": "Of an event at a device under test",
    "device": "Of a device under test, under loads, in events and with mixed traffic",
    "gate": "Of the pytest gate, whose other figure is a ceiling",
}


def pages() -> dict[str, str]:
    """Markdown of each page by its name without suffix."""
    return {
        "commands": _commands_page(),
        "experiment-file": _experiment_page(),
        "library": _library_page(),
        "figures": _figures_page(),
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
    parts = [
        "# Commands",
        _filled(
            "This page is made from the code. `stackcost COMMAND --help` prints the same."
            " After `script/bootstrap` the program is `.venv/bin/stackcost`. Exit codes: 1 after an"
            " error, 2 of a wrong command line, 130 after Ctrl-C."
        ),
    ]
    parts += (_command(name, command) for name, command in commands().items())
    parts.append("## Scripts\n\nEach is started from the repository's folder.")
    parts += (f"### {path}\n\n```text\n{text}\n```" for path, text in scripts().items())
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any) -> str:
    context: Any = command.make_context(
        f"stackcost {name}", [], resilient_parsing=True, terminal_width=WIDTH
    )
    usage = command.get_usage(context).removeprefix("Usage: ")
    text = f"## stackcost {name}\n\n{_filled(command.help)}\n\n{_code(usage)}"
    records = itertools.chain(*command.records(context).values())
    own = [(form, meaning) for form, meaning in records if form != "--help"]
    if not own:
        return text
    return "\n".join([f"{text}\n", *(_item(form, "", meaning) for form, meaning in own)])


def _experiment_page() -> str:
    schema = Experiment.model_json_schema()
    parts = [
        "# Experiment files",
        _filled(
            "This page is made from the code. An experiment is one YAML file;"
            " `experiments/compare.yaml` is a good one to copy. An unknown key or a value out of"
            " its range is an error, which names the line. Paths are relative to the file; the"
            " suite's profiles are also found by their bare names. A section `quick` with the same"
            " keys replaces the others' values with `--quick`."
            " `python -m stackcost.cli.schema FOLDER` writes JSON schemas for editors."
        ),
    ]
    for path, section in _sections(schema).items():
        parts += [f"## {path}", _filled(section["description"]), _keys(section, schema, path)]
    return "\n\n".join(parts) + "\n"


def _library_page() -> str:
    parts = [
        "# Python library\n\nThis page is made from the code."
        " [Plot it yourself](plot-it-yourself.md) has examples.",
        f"{_code(f'stackcost.open{inspect.signature(stackcost.open)}')}\n\n"
        f"{_filled(stackcost.open.__doc__)}",
        f"## Run\n\n{_filled(Run.__doc__)}",
    ]
    parts += (_method(name) for name in ("kinds", "samples", "merged_latency", "columns"))
    parts.append(f"## Columns of several tables\n\n{_columns(_shared())}")
    parts += (_table(name) for name in TABLES)
    return "\n\n".join(parts) + "\n"


def _figures_page() -> str:
    parts = [
        "# What each figure is",
        _filled(
            "This page is made from the code. `summary.json`, the tables of"
            " [import stackcost](library.md), the export and the comparison of runs use these"
            " names. A figure with kinds is one figure for each: the kind `softirq` of `server_cpu`"
            " is `server_cpu.softirq`. Each has all values of its trials, median and range; an"
            " unknown one has the reason. [Collectors](metrics.md) read what they are made from."
            ' Without "From" a figure is read as the one above it. Of HTTP clients, "connection" is'
            " a request."
        ),
        _filled(
            'A comparison judges the figures that are marked "judged"; the others explain them.'
            " [Your own collector](adding-a-collector.md) adds figures to these."
        ),
    ]
    for of, heading in FIGURES_OF.items():
        items, above = [], ""
        for (definition, source), alike in _alike(each for each in registry.ALL if each.of == of):
            names = "`, `".join(name for name, _ in alike)
            units = ", ".join(dict.fromkeys(unit for _, unit in alike))
            items.append(_item(names, units, definition, "" if source == above else source))
            above = source
        parts.append(f"## {heading}\n\n" + "\n".join(items))
    return "\n\n".join(parts) + "\n"


def _alike(
    figures: Iterable[Declared],
) -> Iterable[tuple[tuple[str, str], list[tuple[str, str]]]]:
    """Names and units of figures and their kinds, by the definition and source that they share."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for each in figures:
        told = (each.definition, each.source)
        unit = f"{each.unit}, **judged**" if each.judged else each.unit
        found.setdefault(told, []).append((each.name, unit))
        for kind, words in each.kinds.items():
            found.setdefault(words, []).append((f"{each.name}.{kind}", each.unit))
    return found.items()


def _method(name: str) -> str:
    method = getattr(Run, name)
    signature = str(inspect.signature(method)).replace("self, ", "")
    form = textwrap.fill(f"run.{name}{signature}", WIDTH - 4, subsequent_indent="    ")
    return f"### run.{name}\n\n{_code(form)}\n\n{_filled(method.__doc__)}"


def _table(name: str) -> str:
    base = _base(name)
    rest = {c: about for c, about in TABLES[name].items() if c not in TABLES.get(base, {})}
    shared = [c for c, about in rest.items() if _shared().get(c) == about]
    own = {c: about for c, about in rest.items() if c not in shared}
    rows_of = f"run.{name}()" if callable(getattr(Run, name)) else f"run.{name}"
    about = inspect.getdoc(getattr(Run, name)) or ""
    said = f"`{rows_of}`: {about.splitlines()[0]}"
    if base:
        said += f" Has every column of `{base}`."
    if shared:
        said += f" Also has {', '.join(f'`{c}`' for c in shared)}."
    return f"## {name}\n\n{_filled(said)}\n\n{_columns(own)}"


def _base(name: str) -> str:
    """Another table of which a table has every column, with the same meaning; empty: none."""
    own = TABLES[name].items()
    return next((b for b, each in TABLES.items() if b != name and each.items() <= own), "")


def _columns(columns: Mapping[str, Column]) -> str:
    figures = {each.name: each.definition for each in registry.ALL}
    items = []
    for name, about in columns.items():
        unit = "" if about.unit.startswith("as in") else about.unit
        is_figure = figures.get(name) == about.definition
        items.append(
            _item(name, unit, "the figure of this name" if is_figure else about.definition)
        )
    return "\n".join(items)


def _shared() -> dict[str, Column]:
    """Columns that three tables or more have with the same unit and definition."""
    tables = Counter(each for columns in TABLES.values() for each in columns.items())
    often = [each for each, times in tables.most_common() if times > 2]
    return dict(reversed(often))  # of two definitions of a name the one that more tables have


def _sections(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The whole file first, then each section by the keys that lead to it, once."""
    return {WHOLE: schema, **dict(_below(schema, schema, ""))}


def _below(
    section: dict[str, Any], schema: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each section below `section`, with its path; `path`: the keys that lead to `section`."""
    for key, value in section["properties"].items():
        for name in _references(value):
            below = schema["$defs"][name]
            if "properties" in below:
                yield f"{path}{key}", below
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


def _keys(section: dict[str, Any], schema: dict[str, Any], path: str) -> str:
    """A list of the keys of the section that is at `path`."""
    above = "" if path == WHOLE else f"{path}."
    items = []
    needed = section.get("required", [])
    for key, value in section["properties"].items():
        below = [name for name in _references(value) if "properties" in schema["$defs"][name]]
        form = _link("section", f"{above}{key}") if below else _form(value)
        default = "" if below or key in needed else _default(value["default"])
        if value.get("type") == "boolean":
            form = ""  # its default says it
        about = ["required", form] if key in needed else [form, default and f"default {default}"]
        items.append(_item(key, ", ".join(filter(None, about)), value.get("description", "")))
    return "\n".join(items)


def _default(default: Any) -> str:
    """The default as it is written in the file; empty if it only means that the key is left out."""
    if default in (None, [], {}, ".", ""):
        return ""
    if isinstance(default, list):
        return ", ".join(map(_default, default))
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _form(value: dict[str, Any]) -> str:
    """The values that are allowed, in words; empty: any text."""
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        forms = (_form(each) for each in value["anyOf"] if each.get("type") != "null")
        return " or ".join(form or "text" for form in dict.fromkeys(forms))
    if value.get("pattern") == r"\.py$":
        return "`.py` file"
    if value.get("type") == "array":
        form = _form(value["items"])
        return f"list of {form}" if form else "list"
    if value.get("type") == "object":
        return f"names with: {_form(value['additionalProperties'])}"
    return _scalar(value)


def _scalar(value: dict[str, Any]) -> str:
    kinds = {"string": "", "integer": "integer", "number": "number", "boolean": "boolean"}
    kind = {"ipv4": "IPv4 address", "path": "path"}.get(value.get("format", ""))
    signs = {
        "minimum": "from",
        "exclusiveMinimum": "above",
        "maximum": "to",
        "exclusiveMaximum": "below",
    }
    bounds = [
        f"{sign} {value[name]:,}"
        for name, sign in signs.items()
        if name in value and abs(value[name]) < NO_BOUND
    ]
    said = " ".join([kind or kinds[value["type"]], *bounds])
    return re.sub(r"from (\S+ to)", r"\1", said)


def _link(text: str, heading: str) -> str:
    """A link to a heading of the same page, as code hosts and the site write them."""
    anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    return f"[{text}](#{anchor})"


def _filled(text: str | None) -> str:
    """Paragraphs in lines of at most `WIDTH` columns; what is indented stays as it is."""
    return "\n\n".join(
        part
        if part.startswith(("    ", "- ", "```"))
        else textwrap.fill(part, WIDTH, break_long_words=False, break_on_hyphens=False)
        for part in inspect.cleandoc(text or "").split("\n\n")
    )


def _item(name: str, about: str, meaning: str, source: str = "") -> str:
    """An item of a list: `name` as code, its unit or value in brackets, what it is, where read."""
    read = f". *From*: {_escaped(source)}" if source else ""
    return textwrap.fill(
        f"- `{name}`{f' ({about})' if about else ''}: {_escaped(' '.join(meaning.split()))}{read}",
        WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _code(text: str) -> str:
    """Text as it is."""
    return textwrap.indent(text, "    ")


def _escaped(text: str) -> str:
    """Text without what HTML or Markdown would take for markup."""
    return text.replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    for page, text in pages().items():
        (DOCS / f"{page}.md").write_text(text)
