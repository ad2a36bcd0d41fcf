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
    """The configuration of one ASTF server. `cpus`: Linux CPU numbers.

    The first CPU is also for control. TRex's threads need CPUs of their own: one for control, one
    for latency, and the data threads; or it has one CPU for all of them.
    `flows`: how many flows may be open at a time, each end on this server counted, shared out among
    its data cores; None leaves it to the server (astf-engine: 4,194,304, TRex: 524,288).
    `segmentation_offload`: whether a port may take frames longer than the MSS allows.
    `for_trex`: the server is TRex itself. StackcostError if it cannot run on these CPUs.
    """

    name: str
    ports: Sequence[Port]
    cpus: Sequence[int]
    rpc_port: int = 4501
    async_port: int = 4500
    flows: int | None = None
    segmentation_offload: bool = True
    for_trex: bool = False

    def __post_init__(self) -> None:
        if len(self.ports) % 2 or not self.ports:
            raise StackcostError(
                f"{self.name} has {len(self.ports)} ports, but TRex needs pairs of ports"
            )
        if not self.cpus:
            raise StackcostError(f"{self.name} has no CPU", "give it at least one CPU")
        if not self._low_end and len(self._thread_cpus) < self._pairs:
            control = "two for control and latency" if self.for_trex else "one for control"
            raise StackcostError(
                f"{self.name} has {len(self.cpus)} CPUs for {self._pairs} port pairs",
                f"give it {self._control_cpus + self._pairs} CPUs: {control}, and one for each "
                "pair; with one pair, one CPU for all of them is possible too",
            )

    @property
    def data_cores(self) -> int:
        """Data threads for each pair of ports, TRex's -c."""
        return max(1, len(self.data_cpus) // self._pairs)

    @property
    def data_cpus(self) -> Sequence[int]:
        """CPUs that only TRex's data threads use; none if there is only one CPU."""
        return self.cpus[self._control_cpus :]

    @property
    def _pairs(self) -> int:
        return len(self.ports) // 2

    @property
    def _control_cpus(self) -> int:
        return 2 if self.for_trex else 1

    @property
    def _thread_cpus(self) -> Sequence[int]:
        return self.cpus if len(self.cpus) == 1 else self.data_cpus

    @property
    def _low_end(self) -> bool:
        return self.for_trex and len(self.cpus) == 1

    def write(self, path: Path) -> None:
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
            **self._threads(),
        }
        if self.flows is not None:
            configuration["memory"] = {"dp_flows": self.flows}
        if any(port.address for port in self.ports):
            configuration["port_info"] = [_addresses(port) for port in self.ports]
        yaml = YAML()
        yaml.default_flow_style = False
        with path.open("w") as file:
            yaml.dump([configuration], file)

    def _threads(self) -> dict[str, Any]:
        """The CPUs of the threads.

        TRex refuses two threads on one CPU. All of them on one CPU is a mode of its own, low_end,
        which sleeps between bursts. astf-engine's threads can share a CPU.
        """
        if self._low_end:
            return {"low_end": True, "low_end_core": self.cpus[0]}
        threads, share = self._thread_cpus, self.data_cores
        return {
            "platform": {
                "master_thread_id": self.cpus[0],
                "latency_thread_id": self.cpus[self._control_cpus - 1],
                "dual_if": [
                    {"socket": 0, "threads": list(threads[pair * share : (pair + 1) * share])}
                    for pair in range(self._pairs)
                ],
            }
        }


def _addresses(port: Port) -> dict[str, str]:
    """By position in the list, so a port without addresses has an entry too; 0.0.0.0 is unset."""
    if ":" in port.address:
        return {"ipv6": port.address, "default_gw_ipv6": port.gateway}
    return {"ip": port.address or "0.0.0.0", "default_gw": port.gateway or "0.0.0.0"}
