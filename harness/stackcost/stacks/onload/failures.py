"""How Onload's failures look, and what each is: in a program's words, or in the kernel's log."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """`signs`: words that all stand in one line. `what` it is, and the `hint` that fixes it."""

    signs: tuple[str, ...]
    what: str
    hint: str


FAILURES = (
    *(
        Failure((sign,), "Onload's modules are not loaded", "modprobe onload")
        for sign in ("The onload drivers are not loaded", "Could not open /dev/onload")
    ),
    Failure(
        ("Failed to spawn server",),
        "Onload's control-plane server did not start; everything runs on the kernel's stack",
        "install onload_cp_server where the module looks for it (its parameter cplane_server_path)",
    ),
    *(
        Failure(
            signs,
            "no virtual interface was free: by AF_XDP there is one for each queue, and another "
            "program on Onload, or a killed one, has it",
            "onload_stackdump -z kill, and end other programs on Onload",
        )
        for signs in (
            ("Failed to allocate stack", "rc=-16"),
            ("failed (16: Device or resource busy)",),
        )
    ),
    Failure(
        ("socket()", "failed (19: No such device)"),
        "Onload has no interface in the program's namespace",
        "register one that the namespace owns, or put a NIC with Onload's driver into it",
    ),
    Failure(
        ("listen()", "failed (95: Operation not supported)"),
        "Onload's flow filters for AF_XDP are on, and the interface has none",
        "write 0 to enable_af_xdp_flow_filters of module sfc_resource before programs start",
    ),
    Failure(
        ("bind()", "failed (95: Operation not supported)"),
        "a cluster of stacks cannot bind with SO_REUSEPORT by AF_XDP",
        "EF_CLUSTER_SIZE=0, or no reuseport",
    ),
    Failure(
        ("Cannot find profile",),
        "Onload does not know a profile or fragment that is asked for",
        "use an Onload that has it under /usr/libexec/onload/profiles, or another profile",
    ),
    Failure(
        ("arithmetic expression", "division by"),  # zero or 0, by the shell
        "a fragment of Onload divides by EF_CLUSTER_SIZE, which is 0 or not set",
        "EF_CLUSTER_SIZE of 1 or more; to have no cluster, 0 after the fragments",
    ),
)


def find_failure(lines: Iterable[str]) -> Failure | None:
    """The first failure that a line shows, the kernel's and the program's alike."""
    lines = list(lines)
    for failure in FAILURES:
        if any(all(sign in line for sign in failure.signs) for line in lines):
            return failure
    return None
