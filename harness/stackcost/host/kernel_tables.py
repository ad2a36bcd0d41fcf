"""Reads the texts of /proc/net: sockets by state, counters by table, and what interfaces passed."""


def sockstat(text: str) -> dict[tuple[str, str], int]:
    """The values of a /proc/net/sockstat by protocol and state, such as ("TCP", "inuse")."""
    found = {}
    for line in text.splitlines():
        protocol, rest = line.split(":")
        words = rest.split()
        for state, value in zip(words[::2], map(int, words[1::2]), strict=True):
            found[protocol, state] = value
    return found


def counter_table(text: str, table: str) -> dict[str, int]:
    """A table of a /proc/net/snmp or netstat by name, which is a row of names and one of values.

    ValueError if it is not there.
    """
    names, values = (row.split()[1:] for row in text.splitlines() if row.startswith(f"{table}:"))
    return dict(zip(names, map(int, values), strict=True))


def interfaces(text: str) -> dict[str, list[int]]:
    """The columns of each interface in a /proc/net/dev: 8 of what it received, 8 of what it sent.

    Each 8 begin with bytes, packets, errors, drops (net/core/net-procfs.c).
    """
    rows = (line.split(":") for line in text.splitlines()[2:])
    return {name.strip(): [int(column) for column in rest.split()] for name, rest in rows}
