"""Which core does the receive work of an interface, on each end of a veth.

Linux does a veth's receive work in softirq *on the sender's core*: all of the server's TCP receive
work would run on, and be billed to, the generator's core, and the generator's receive work the
other way round. Two mechanisms move it to the receiver's cores:

- Threaded NAPI (Documentation/networking/napi.rst). An interface that has a receive queue polls it
  in a kernel thread, which is bound to cores. A veth end has a queue when AF_XDP is attached, whose
  frames the poll copies to the socket, and when GRO is on, as on the kernel server's end.
- Receive packet steering (RPS, Documentation/networking/scaling.rst) hands each frame for the
  kernel's stack to a chosen core, which processes it in softirq. After a poll on that same core it
  costs little. Without a queue to poll it is all there is, and the sender's core pays for
  interrupting the other: several microseconds for each batch in a virtual machine.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import psutil

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import execute

# Above every ordinary program: a poll gets the busy engine's core as soon as softirq would.
POLL_PRIORITY = 1
THREAD_NAME_LENGTH = 15  # the kernel cuts names to this; older ones also those of kernel threads


@dataclass(frozen=True, slots=True)
class ReceiveWork:
    """What is wanted of an interface: on which cores, and by which of the two mechanisms.

    Both together are what comes closest to a NIC with an interrupt on those cores.
    """

    cpus: tuple[int, ...]
    poll_threads: bool = True
    packet_steering: bool = True


@dataclass(frozen=True, slots=True)
class Steering:
    """How one interface's receive work is placed.

    `rps_cpus`: mask by receive queue, as read back. `poll_threads`: process ids of its NAPI
    threads; when there are none `rps_cpus` alone is in force, and `reason` says why.
    """

    interface: str
    cpus: tuple[int, ...]
    rps_cpus: dict[str, str]
    poll_threads: tuple[int, ...]
    reason: str = ""

    def describe(self) -> dict[str, Any]:
        """For the manifest."""
        return asdict(self)


def steer_receive(namespace: str, interface: str, wanted: ReceiveWork) -> Steering:
    """Place all receive work of `interface` as `wanted`; to be called again after AF_XDP attached.

    StackcostError when the kernel has no RPS: figures by core would be wrong without any sign.
    """
    chosen = tuple(sorted(set(wanted.cpus)))
    masks = _steer_packets(namespace, interface, chosen if wanted.packet_steering else ())
    if wanted.poll_threads:
        threads, reason = _steer_polls(namespace, interface, chosen)
    else:
        threads, reason = _poll_in_softirq(namespace, interface)
    return Steering(interface, chosen, masks, threads, reason)


def cpu_mask(cpus: Iterable[int]) -> str:
    """The kernel's hexadecimal bitmap: comma-separated words of 32 bits, highest first."""
    bits = sum(1 << cpu for cpu in set(cpus))
    words: list[str] = []
    while bits or not words:
        words.append(f"{bits & 0xFFFFFFFF:08x}")
        bits >>= 32
    return ",".join(reversed(words))


def _steer_packets(namespace: str, interface: str, cpus: tuple[int, ...]) -> dict[str, str]:
    wanted = cpu_mask(cpus)
    masks = {}
    for queue in execute(namespace, ["ls", f"/sys/class/net/{interface}/queues"]).split():
        if not queue.startswith("rx-"):
            continue
        path = f"/sys/class/net/{interface}/queues/{queue}/rps_cpus"
        execute(namespace, ["tee", path], stdin=wanted)
        masks[queue] = execute(namespace, ["cat", path]).strip()
        if _bits(masks[queue]) != _bits(wanted):
            raise StackcostError(
                f"receive steering of {interface} {queue} is {masks[queue]} instead of {wanted}",
                "the kernel needs CONFIG_RPS",
            )
    return masks


def _steer_polls(
    namespace: str, interface: str, cpus: tuple[int, ...]
) -> tuple[tuple[int, ...], str]:
    """Make the interface's NAPI polls threads on `cpus`; returns their ids, or why none."""
    try:
        execute(namespace, ["tee", f"/sys/class/net/{interface}/threaded"], stdin="1")
    except StackcostError:  # the kernel refuses it (EIO) while the interface has no NAPI
        return (), "it has no queue to poll: no AF_XDP socket is attached, and GRO is off"
    threads = poll_threads(interface)
    for thread in threads:
        os.sched_setaffinity(thread, cpus)
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(POLL_PRIORITY))
    return threads, "" if threads else "the kernel created no NAPI thread"


def _poll_in_softirq(namespace: str, interface: str) -> tuple[tuple[int, ...], str]:
    with contextlib.suppress(StackcostError):  # refused while the interface has no NAPI
        execute(namespace, ["tee", f"/sys/class/net/{interface}/threaded"], stdin="0")
    return (), "threaded NAPI is not configured"


def poll_threads(interface: str) -> tuple[int, ...]:
    """Process ids of an interface's NAPI threads, named napi/<interface>-<id>.

    They take their name a moment after they start, so it waits a little for them.
    """
    prefix = f"napi/{interface}-"
    for _ in range(20):
        found = tuple(
            process.pid
            for process in psutil.process_iter(["name"])
            if _is_named(process.info["name"], prefix)
        )
        if found:
            return found
        time.sleep(0.01)
    return ()


def _is_named(name: str, prefix: str) -> bool:
    return name.startswith(prefix) or name == prefix[:THREAD_NAME_LENGTH]


def _bits(mask: str) -> int:
    return int(mask.replace(",", ""), 16)
