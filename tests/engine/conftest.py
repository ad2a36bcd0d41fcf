"""The engine on one end of a veth, and behind a lossy router a host on the kernel's stack."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.load.client import TrexClient
from harness.load.generator import Generator
from harness.load.trex_config import Port, TrexConfig
from harness.testbed.local import LocalTestbed
from harness.testbed.namespace import execute, spawner
from harness.testbed.network import LOAD_ADDRESS, SERVER_ADDRESS

REPOSITORY = Path(__file__).resolve().parents[2]
PROFILES = REPOSITORY / "trex_profiles"

HOST = "stackcost-test-host"
HOST_ADDRESS = "48.0.0.1"

LOSS = """
table inet stackcost {
    chain both_ways {
        type filter hook forward priority 0;
        numgen random mod 1000 < PER_MILLE counter drop
    }
}
"""

# The host's frames are not merged ones: one drop is to take one frame.
LINK = """
ip link add sc-in0 netns SERVER type veth peer name sc-host0 netns HOST
ip -n SERVER address add 198.19.0.1/24 dev sc-in0
ip -n SERVER link set sc-in0 up
ip -n SERVER route add ADDRESS/32 via 198.19.0.2
ip -n HOST address add 198.19.0.2/24 dev sc-host0
ip -n HOST address add ADDRESS/32 dev sc-host0
ip -n HOST link set lo up
ip -n HOST link set sc-host0 up
ip -n HOST route add default via 198.19.0.1
ip netns exec HOST ethtool -K sc-host0 gso off tso off gro off
ip netns exec SERVER sysctl -q -w net.ipv4.ip_forward=1
"""


@contextmanager
def host_behind_lossy_router(per_mille: int) -> Iterator[LocalTestbed]:
    """A bed whose server's end is a router, with a host behind it in the namespace HOST.

    The router drops frames at random in both directions (nftables). A drop in the host itself
    would be no loss: its TCP is told, and sends again.
    """
    with LocalTestbed(service_address="198.18.0.9") as bed:
        subprocess.run(["ip", "netns", "delete", HOST], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["ip", "netns", "add", HOST], check=True)
        try:
            link = LINK.replace("SERVER", bed.server_namespace).replace("HOST", HOST)
            for command in link.replace("ADDRESS", HOST_ADDRESS).strip().splitlines():
                subprocess.run(command.split(), check=True, stdout=subprocess.DEVNULL)
            rules = LOSS.replace("PER_MILLE", str(per_mille))
            execute(bed.server_namespace, ["nft", "-f", "-"], stdin=rules)
            yield bed
        finally:
            subprocess.run(["ip", "netns", "delete", HOST], check=True)


@contextmanager
def engine_on(bed: LocalTestbed, folder: Path, server: bool) -> Iterator[TrexClient]:
    """astf-engine on the load's end, as ASTF server or as client, and a TRex client of it."""
    port = Port(bed.load_interface, LOAD_ADDRESS, SERVER_ADDRESS)
    ports = (Port("dummy"), port) if server else (port, Port("dummy"))
    spawn = spawner(bed.load_namespace, bed.cpus.load)
    config = TrexConfig("engine-test", ports, bed.cpus.load)
    with Generator(config, folder, spawn), TrexClient(spawn) as client:
        client.connect()
        client.reset()
        bed.steer()
        yield client
