"""Runs in a guest: traffic between two of its NICs, which DPDK drives. Prints what was counted.

Usage: python pci_ports.py FLOWS CLIENT SERVER QUEUES. CLIENT, SERVER: PCI addresses of NICs whose
wires are joined. QUEUES: of SERVER; with more than one the two ports are those of two engines,
because a client has one. Debian's kernels lack vfio without an IOMMU, so DPDK uses uio.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from stackcost.contracts.wiring import Port
from stackcost.files import PROFILES
from stackcost.host.patience import patience
from stackcost.trex.client import TrexClient
from stackcost.trex.generator import Generator
from stackcost.trex.process import spawn_here
from stackcost.trex.trex_config import TrexConfig

PCI = Path("/sys/bus/pci")
DRIVER = "uio_pci_generic"
PROFILE = PROFILES / "http_program.py"
RATE = 50.0  # connections/s
SETTINGS = {"response_bytes": 4000}
COUNTERS = ("tcps_connattempt", "tcps_connects", "tcps_accepts", "tcps_closed", "tcps_drops")


def bind(address: str) -> None:
    """Take a NIC from the kernel and give it to DPDK."""
    device = PCI / "devices" / address
    (device / "driver_override").write_text(DRIVER)
    if (device / "driver").exists():
        (device / "driver/unbind").write_text(address)
    (PCI / "drivers_probe").write_text(address)
    assert (device / "driver").resolve().name == DRIVER


def engine(
    stack: ExitStack, name: str, ports: Sequence[Port], queues: int, number: int
) -> tuple[TrexClient, Generator]:
    cpus = (0, 1) if queues == 1 else (0, *range(queues))  # of a guest with two
    config = TrexConfig(name, ports, cpus, 4501 + 10 * number, 4500 + 10 * number)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    generator = stack.enter_context(Generator(config, folder, spawn_here))
    client = stack.enter_context(TrexClient(rpc_port=config.rpc_port, async_port=config.async_port))
    client.connect()
    client.reset()
    return client, generator


def received_by_queue(client: TrexClient, port: int, queues: int) -> list[int]:
    names = client.call("get_port_xstats_names", {"port_id": port})["xstats_names"]
    values = client.call("get_port_xstats_values", {"port_id": port})["xstats_values"]
    found = dict(zip(names, values, strict=True))
    return [
        found[f"rx_q{queue}_good_packets"] for queue in range(queues)
    ]  # of DPDK's virtio driver


def main() -> None:
    flows, near, far, queues = sys.argv[1:]
    subprocess.run(["modprobe", DRIVER], check=True)
    Path("/proc/sys/vm/nr_hugepages").write_text("300")
    for address in (near, far):
        bind(address)
    count, many = int(flows), int(queues)
    client_port, server_port = (
        Port(near, "198.18.0.1", "198.18.0.2"),
        Port(far, "198.18.0.2", "198.18.0.1"),
    )
    none = Port("dummy")
    with patience(10), ExitStack() as stack:
        if many == 1:
            server, _ = client, _ = engine(stack, "both", (client_port, server_port), 1, 0)
        else:
            server, _ = engine(stack, "server", (none, server_port), many, 0)
            client, _ = engine(stack, "client", (client_port, none), 1, 1)
            server.load_profile(PROFILE, SETTINGS)
            server.start(1, client_mask=0)
        client.load_profile(PROFILE, SETTINGS)
        client.start(RATE, duration=1.1 * count / RATE)
        client.wait_on_traffic(600)
        told: dict[str, Any] = {
            side: {name: seen.stats()["traffic"][side].get(name, 0) for name in COUNTERS}
            for side, seen in (("client", client), ("server", server))
        }
        if many > 1:
            told["received by queue"] = received_by_queue(server, 1, many)
    print(json.dumps(told))


main()
