"""The names of systems, which contain the settings that the matrix varies."""

import re
from collections.abc import Sequence
from typing import get_args

from stackcost.contracts.tls import VariedTls

NETWORK = {  # the words in a name for a setting of `NetworkSettings`
    "loss": "loss",
    "delay_ms": "ms-delay",
    "jitter_ms": "ms-jitter",
    "reorder": "reorder",
    "duplicate": "duplicate",
    "rate_mbit": "Mbit",
}


def workers_part(workers: int) -> str:
    """The part of a variant's name for a number of workers."""
    return f"{workers}-workers"


def workers_of(name: str) -> int | None:
    """The number of workers in a variant's name; None if it does not vary."""
    found = re.search(r"\b(\d+)-workers\b", name)
    return int(found[1]) if found else None


def length_part(response_bytes: int) -> str:
    """The part of a variant's name for a response length."""
    return f"{response_bytes}-B"


def length_of(name: str) -> int | None:
    """The response length in a variant's name; None if it does not vary."""
    found = re.search(r"[,:](\d+)-B(,|$)", name)
    return int(found[1]) if found else None


def cores_part(cores: int) -> str:
    """The part of a variant's name for a number of server cores."""
    return f"{cores}-cores"


def reuseport_part(reuseport: bool) -> str:
    """The part of a variant's name for listening sockets: one for each worker, or one of all."""
    return "reuseport" if reuseport else "one-listener"


def rules_part(rules: int) -> str:
    """The part of a variant's name for a length of a list of rules."""
    return f"{rules}-rules"


def rules_of(name: str) -> int | None:
    """The number of rules in a variant's name; None if it does not vary."""
    found = re.search(r"[,:](\d+)-rules\b", name)
    return int(found[1]) if found else None


def tls_of(name: str) -> str:
    """What a matrix varies of TLS, in a variant's name; empty if it does not."""
    parts = name.partition(":")[2].split(",")
    return next((each for each in get_args(VariedTls) if each in parts), "")


def network_part(setting: str, value: float) -> str:
    """The part of a variant's name for a setting of the network."""
    return f"{value:g}-{NETWORK[setting]}"


def network_of(name: str) -> dict[str, float]:
    """The settings of the network in a variant's name; empty if they do not vary."""
    settings = {words: setting for setting, words in NETWORK.items()}
    found = re.findall(rf"[,:]([\d.e-]+?)-({'|'.join(NETWORK.values())})(?=,|$)", name)
    return {settings[words]: float(value) for value, words in found}


def without_network(name: str) -> str:
    """The name of a variant without the settings of the network."""
    server, _, parts = name.partition(":")
    own = {network_part(setting, value) for setting, value in network_of(name).items()}
    rest = ",".join(part for part in parts.split(",") if part not in own)
    return f"{server}:{rest}" if rest else server


def axis_of(name: str) -> tuple[str, int, str]:
    """A variant's name without its number of workers or cores, that number, and what it counts.

    1 and nothing where neither varies.
    """
    found = re.search(r"[,:](\d+)-(workers|cores)\b", name)
    if found is None:
        return name, 1, ""
    server, _, parts = name.partition(":")
    rest = ",".join(part for part in parts.split(",") if part != found[0][1:])
    what = "worker processes" if found[2] == "workers" else "cores"
    return f"{server}:{rest}" if rest else server, int(found[1]), what


def fits(name: str, wanted: str) -> bool:
    """Whether `wanted` is a system's name, or its server's name with some of its settings."""
    server, _, parts = name.partition(":")
    wanted_server, _, wanted_parts = wanted.partition(":")
    return server == wanted_server and _parts(wanted_parts) <= _parts(parts)


def pairs(
    systems: Sequence[str], baseline: str | Sequence[str], against: str
) -> tuple[tuple[str, str], ...]:
    """The pairs of systems of the factors (numerator, denominator), with equal response lengths,
    equal networks, and TLS alike, unless `against` says which.

    As an experiment's `baseline` (one or several) and `against` say it.
    """
    numerators = [baseline] if isinstance(baseline, str) else baseline
    return tuple(
        (above, below)
        for above in systems
        for below in systems
        if any(fits(above, name) for name in numerators)
        and fits(below, against)
        and above != below
        and length_of(above) == length_of(below)
        and network_of(above) == network_of(below)
        and (tls_of(against) or tls_of(above) == tls_of(below))
    )


def _parts(text: str) -> set[str]:
    return set(filter(None, text.split(",")))
