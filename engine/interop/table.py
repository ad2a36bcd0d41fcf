"""The interoperability matrices as Markdown tables."""

from collections.abc import Iterable, Sequence
from typing import Any

OPTIONS = ("timestamps", "SACK", "scaling", "ECN")


def table(results: list[dict[str, Any]]) -> str:
    """A row for each combination of options and size, a column for each role and wire.

    A field: whole flows of all, and how long the slowest took.
    """
    columns = list(dict.fromkeys((r["engine"], r["wire"]) for r in results))
    rows: dict[tuple[Any, ...], dict[tuple[str, str], str]] = {}
    for result in results:
        tunables = " ".join(f"{name}={value}" for name, value in result["tunables"].items())
        options = " ".join(name for name in OPTIONS if result[name]) or "none"
        row = rows.setdefault((options, tunables, result["bytes_each_way"]), {})
        row[result["engine"], result["wire"]] = field(result)
    head = ["kernel's options", "engine's tunables", "bytes each way"]
    head += [f"engine as {role}, {wire}" for role, wire in columns]
    return markdown(
        head,
        ([*map(str, key), *(row.get(each, "") for each in columns)] for key, row in rows.items()),
    )


def field(result: dict[str, Any]) -> str:
    """One cell."""
    whole = f"{result['whole_flows']}/{result['flows']}, {result['slowest_flow_seconds']:.2f} s"
    return f"{whole}: **{result['fault']}**" if result["fault"] else whole


def tls_table(results: list[dict[str, Any]]) -> str:
    """A row for each peer, a column for each role, wire and version.

    A field: whole cells of those that were run; what was not run, and what failed, with its reason.
    """
    columns = list(dict.fromkeys((r["engine"], r["wire"], r["version"]) for r in results))
    rows = []
    for peer in dict.fromkeys(result["peer"] for result in results):
        row = [peer]
        for column in columns:
            cells = [
                result
                for result in results
                if (result["peer"], result["engine"], result["wire"], result["version"])
                == (peer, *column)
            ]
            row.append(summary(cells))
        rows.append(row)
    head = [f"engine as {role}, {wire}, TLS {version}" for role, wire, version in columns]
    return markdown(["peer", *head], rows)


def summary(cells: Sequence[dict[str, Any]]) -> str:
    """Some cells of one peer."""
    run = [cell for cell in cells if not cell["skipped"]]
    words = [f"{sum(not cell['fault'] for cell in run)}/{len(run)}"] if run else []
    words += dict.fromkeys(cell["skipped"] for cell in cells if cell["skipped"])
    words += [f"**{fault}**" for fault in dict.fromkeys(c["fault"] for c in run if c["fault"])]
    return "; ".join(words)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of these fields."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(fields) + " |" for fields in lines)
