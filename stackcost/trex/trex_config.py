"""TRex's own configuration file (trex_cfg.yaml), which astf-engine reads too."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port


@dataclass(frozen=True, slots=True)
class TrexConfig:
    """The configuration of one ASTF server. `cpus`: Linux CPU numbers, the first also for control.

    `flows`: how many flows may be open at a time, each end on this server counted, shared out among
    its data cores; None leaves it to the server (astf-engine: 4,194,304, TRex: 524,288).
    `segmentation_offload`: whether a port may take frames longer than the MSS allows.
    """

    name: str
    ports: Sequence[Port]
    cpus: Sequence[int]
    rpc_port: int = 4501
    async_port: int = 4500
    flows: int | None = None
    segmentation_offload: bool = True

    def __post_init__(self) -> None:
        if len(self.ports) % 2 or not self.ports:
            raise StackcostError(
                f"{self.name} has {len(self.ports)} ports, but TRex needs pairs of ports"
            )
        if not self.cpus:
            raise StackcostError(f"{self.name} has no CPU", "give it at least one CPU")

    @property
    def data_cores(self) -> int:
        """Data threads for each pair of ports, TRex's -c; control has the first CPU to itself."""
        return max(1, (len(self.cpus) - 1) // (len(self.ports) // 2))

    @property
    def data_cpus(self) -> Sequence[int]:
        """CPUs that only TRex's data threads use; none if there is only one CPU."""
        return self.cpus[1:]

    def write(self, path: Path, for_trex: bool) -> None:
        """Write the file. Keys: TRex's src/platform_cfg.cpp and "Platform YAML" in its manual."""
        configuration: dict[str, Any] = {
            "version": 2,
            "port_limit": len(self.ports),
            "interfaces": [port.interface for port in self.ports],
            "prefix": f"stackcost-{self.name}",
            "enable_zmq_pub": True,  # without it TRex passes over zmq_pub_port
            "zmq_pub_port": self.async_port,
            "zmq_rpc_port": self.rpc_port,
            "c": self.data_cores,
            **self._threads(for_trex),
        }
        if self.flows is not None:
            configuration["memory"] = {"dp_flows": self.flows}
        if any(port.address for port in self.ports):
            configuration["port_info"] = [_addresses(port) for port in self.ports]
        yaml = YAML()
        yaml.default_flow_style = False
        with path.open("w") as file:
            yaml.dump([configuration], file)

    def _threads(self, for_trex: bool) -> dict[str, Any]:
        """The CPUs of the threads.

        TRex refuses a data thread on the CPU of its control threads; all on one CPU is a mode of
        its own, low_end, which sleeps between bursts. astf-engine shares a CPU without ado.
        """
        control, *data = self.cpus
        if not data and for_trex:
            return {"low_end": True, "low_end_core": control}
        pairs = len(self.ports) // 2
        threads = list(data) or [control]
        share = self.data_cores
        if len(threads) < pairs * share:
            raise StackcostError(
                f"{self.name} has {len(self.cpus)} CPUs for {pairs} port pairs",
                f"give it {pairs + 1} CPUs: one for control and one for each pair",
            )
        return {
            "platform": {
                "master_thread_id": control,
                "latency_thread_id": control,
                "dual_if": [
                    {"socket": 0, "threads": threads[pair * share : (pair + 1) * share]}
                    for pair in range(pairs)
                ],
            }
        }


def _addresses(port: Port) -> dict[str, str]:
    """By position in the list, so a port without addresses has an entry too; 0.0.0.0 is unset."""
    if ":" in port.address:
        return {"ipv6": port.address, "default_gw_ipv6": port.gateway}
    return {"ip": port.address or "0.0.0.0", "default_gw": port.gateway or "0.0.0.0"}
