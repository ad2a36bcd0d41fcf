"""The congestion control of a run's systems, which is part of what a connection costs."""

from stackcost.analysis.head import Head
from stackcost.contracts.tuning import CONGESTION_CONTROL
from stackcost.store import Manifest

SETTING = "congestion control"  # in the description of a run's setting


def congestion_control(manifest: Manifest) -> dict[str, str]:
    """The setting: the algorithm, and where systems have several, of which each is.

    Empty where none is known: runs from before it was stored have only the kernel's.
    """
    found: dict[str, list[str]] = {}
    systems = {name: each for name, each in manifest.servers.items() if name != "generator"}
    for system, server in systems.items():
        sysctls = manifest.test_bed.get(system, {}).get("sysctls", {})
        of_kernel = system.partition(":")[0].endswith("/kernel")
        kernels = sysctls.get(CONGESTION_CONTROL, "") if of_kernel else ""
        if algorithm := server.get("congestion_control", kernels):
            found.setdefault(algorithm, []).append(system)
    if not found:
        return {}
    if list(map(len, found.values())) == [len(systems)]:
        return {SETTING: next(iter(found))}
    told = (f"{algorithm} on {_in_short(found, algorithm)}" for algorithm in found)
    return {SETTING: "; ".join(told)}


def congestion_sentence(summary: Head) -> str:
    """What the answer says of it; empty where it is not known."""
    setting = summary.machine.get(SETTING, "")
    if "; " in setting:
        return f"What differs beside the systems: {SETTING}, {setting}."
    return f"The servers' {SETTING}: {setting}." if setting else ""


def _in_short(found: dict[str, list[str]], algorithm: str) -> str:
    """The systems of an algorithm; all variants of a server are one name if none has another."""
    others = {
        system.partition(":")[0]
        for other, systems in found.items()
        if other != algorithm
        for system in systems
    }
    bases = ((system.partition(":")[0], system) for system in found[algorithm])
    return ", ".join(dict.fromkeys(system if base in others else base for base, system in bases))
