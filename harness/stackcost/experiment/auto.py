"""Resolves `auto` in an experiment file: it means as much as this machine has."""

from collections.abc import Sequence
from typing import Any

from stackcost.host.cores import allowed_cores, place_of

AUTO, SHARED = "auto", "shared"


def resolve_auto(data: Any) -> Any:
    """Return the same mapping with every `auto` replaced by a value for this machine.

    `cores`: one half of the cores for the load, the other half for the server; no side gets a
    hardware thread of the other side's core. If they are `shared`, both get all cores. Axes of the
    matrix: 1, 2, 4 and so on, up to the number of server cores; in a list with other numbers, those
    for which there are cores, and all cores. Client processes: one for each core.
    """
    if not isinstance(data, dict):
        return data
    data = dict(data)
    here = allowed_cores()
    load, server = halves(here)
    cores = data.get("cores")
    if cores in (AUTO, SHARED):
        cores = {"load": AUTO, "server": AUTO} | ({"shared": True} if cores == SHARED else {})
    if isinstance(cores, dict):
        cores = dict(cores)
        shared = cores.get("shared") is True
        for part, share in (("load", load), ("server", server)):
            if cores.get(part) == AUTO:
                cores[part] = here if shared else share
        data["cores"] = cores
    _doubled(data, _count(cores, "server"))
    http = data.get("http")
    if isinstance(http, dict) and http.get("processes") == AUTO:
        data["http"] = dict(http) | {"processes": _count(cores, "load")}
    return data


def halves(cpus: Sequence[int]) -> tuple[list[int], list[int]]:
    """Two halves of these CPUs, divided between physical cores, and by NUMA nodes first.

    Each lists one thread of each of its cores before their second threads, so that fewer workers
    than CPUs have cores of their own. A single core is divided by its threads.
    """
    places = {cpu: place_of(cpu) for cpu in cpus}
    cores = sorted({(place.node, place.core) for place in places.values()})
    if len(cores) < 2:
        half = max(1, len(cpus) // 2)
        return list(cpus[:half]), list(cpus[half:])
    first = set(cores[: len(cores) // 2])
    ordered = sorted(cpus, key=lambda cpu: (places[cpu].thread, places[cpu].node, places[cpu].core))
    load = [cpu for cpu in ordered if (places[cpu].node, places[cpu].core) in first]
    return load, [cpu for cpu in ordered if cpu not in load]


def doublings(most: int) -> list[int]:
    """1, 2, 4 and so on, and `most` itself."""
    powers = [1 << at for at in range(most.bit_length())]
    return sorted({number for number in powers if number <= most} | {most})


def _doubled(data: dict[str, Any], most: int) -> None:
    matrix = data.get("matrix")
    if isinstance(matrix, dict):
        data["matrix"] = {
            axis: _numbers(values, most) if axis in ("workers", "cores") else values
            for axis, values in matrix.items()
        }


def _numbers(values: Any, most: int) -> Any:
    """The values of an axis, with `auto` resolved; anything else is left to the schema."""
    if values == AUTO:
        return doublings(most)
    if not isinstance(values, list) or AUTO not in values:
        return values
    given = [each for each in values if each != AUTO]
    return [*(each for each in given if not isinstance(each, int) or each < most), most]


def _count(cores: Any, part: str) -> int:
    """Number of cores of a part; 1 if the value is invalid, which the schema reports later."""
    given = cores.get(part) if isinstance(cores, dict) else None
    return max(1, len(given)) if isinstance(given, list) else 1
