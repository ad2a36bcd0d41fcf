"""The interoperability matrix as a Markdown table."""

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
    lines = [head, ["---"] * len(head)]
    lines += [
        [*map(str, key), *(row.get(column, "") for column in columns)] for key, row in rows.items()
    ]
    return "\n".join("| " + " | ".join(fields) + " |" for fields in lines)


def field(result: dict[str, Any]) -> str:
    """One cell."""
    whole = f"{result['whole_flows']}/{result['flows']}, {result['slowest_flow_seconds']:.2f} s"
    return f"{whole}: **{result['fault']}**" if result["fault"] else whole
