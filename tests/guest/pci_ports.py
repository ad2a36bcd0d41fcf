"""Runs in a guest: traffic between two of its NICs, which DPDK drives. Prints what was counted.

Usage: python pci_ports.py FLOWS CLIENT SERVER QUEUES. CLIENT, SERVER: PCI addresses of NICs whose
wires are joined. QUEUES: of each of them; the engine has a data core for each queue. Debian's
kernels lack vfio without an IOMMU, so DPDK uses uio.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from stackcost.contracts.wiring import Port
from stackcost.files import PROFILES
from stackcost.host.timeouts import timeout_factor
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.process import spawn_here
from stackcost.trex.trex_config import TrexConfig

PCI = Path("/sys/bus/pci")
DRIVER = "uio_pci_generic"
PROFILE = PROFILES / "http_program.py"
RATE = 50.0  # connections/s
SETTINGS = {"response_bytes": 4000}
COUNTERS = ("tcps_connattempt", "tcps_connects", "tcps_accepts", "tcps_closed", "tcps_drops")
COUNTERS += ("rss_redirect_rx", "rss_redirect_tx")


def bind(address: str) -> None:
    """Take a NIC from the kernel and give it to DPDK."""
    device = PCI / "devices" / address
    (device / "driver_override").write_text(DRIVER)
    if (device / "driver").exists():
        (device / "driver/unbind").write_text(address)
    (PCI / "drivers_probe").write_text(address)
    assert (device / "driver").resolve().name == DRIVER


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
    cpus = (0, 1) if many == 1 else (0, *range(many))  # of a guest with two
    ports = (Port(near, "198.18.0.1", "198.18.0.2"), Port(far, "198.18.0.2", "198.18.0.1"))
    with timeout_factor(10), tempfile.TemporaryDirectory() as folder:
        config = TrexConfig("engine", ports, cpus)
        with AstfServer(config, Path(folder), spawn_here), TrexClient(spawn_here) as client:
            client.connect()
            client.reset()
            client.load_profile(PROFILE, SETTINGS)
            client.call("stackcost_set_payload_check", {"profile_id": "_", "enabled": True})
            client.start(RATE, duration=1.1 * count / RATE)
            client.wait_on_traffic(600)
            traffic = client.stats()["traffic"]
            told: dict[str, Any] = {
                side: {name: traffic[side].get(name, 0) for name in COUNTERS}
                for side in ("client", "server")
            }
            checked = client.call("stackcost_get_payload_check", {"profile_id": "_"})
            (told["payload"],) = checked["templates"]
            if many > 1:
                told["received by queue"] = [received_by_queue(client, at, many) for at in (0, 1)]
        told["response bytes"] = SETTINGS["response_bytes"]
        told["printed"] = Path(folder, "engine.log").read_text()
    print(json.dumps(told))


main()
