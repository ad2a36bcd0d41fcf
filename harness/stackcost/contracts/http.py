"""HTTP as clients and servers agree on it, and what clients were asked for and counted."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stackcost.contracts.counts import StoredData

# RFC 9112, RFC 9113 and RFC 9114. 2 and 3 are used over TLS alone, as browsers use them.
HttpVersion: TypeAlias = Literal["1.1", "2", "3"]
Certificate: TypeAlias = Literal["rsa-2048", "p-256"]  # the key of a server's certificate
RSA: Certificate = "rsa-2048"
P256: Certificate = "p-256"
SecondsByMode: TypeAlias = dict[Literal["user", "system"], float]


@dataclass
class HttpSettings(StoredData):
    """What HTTP clients were asked for. `connections`: of each of the `processes`, at once.

    `program`: its name. `body_bytes`: bytes of each response's body; of several, each connection
    asks in turn. `kept`: whether connections stay open from one request to the next. `measures`:
    which figure is the answer. `cores_shared`: clients ran on cores of the server's. `version`: of
    HTTP. `streams`: requests that a connection of HTTP/2 or HTTP/3 has under way at once.
    `resumed`: whether a new connection continues a TLS session of an earlier one. `beside`: body
    lengths of other clients that run meanwhile, as many of each; of them is no rate and no time.
    """

    program: str
    processes: int
    connections: int
    body_bytes: list[int]
    kept: bool
    tls: bool
    measures: Literal["connections", "requests", "throughput", "latency"]
    cores_shared: bool = False
    version: HttpVersion = "1.1"
    streams: int = 1
    resumed: bool = False
    beside: list[int] = field(default_factory=list)

    @property
    def all_connections(self) -> int:
        """Of all clients at once, those beside included."""
        return self.processes * self.connections * (1 + len(self.beside))


@dataclass
class HttpCounts(StoredData):
    """What HTTP clients counted over all their time, summed over the processes.

    `requests`: answered well; `rate`: of these per second. `bits_per_second`: received, headers
    included. `failed`: requests, by the cause that the program gives. `unsent`: of a constant rate,
    requests that were due and not sent. `latency_means`: in words, what the program's times begin
    and end with. `cpu_seconds`: "user" and "system" time of the processes, as the kernel accounts
    it.
    """

    requests: int
    rate: float
    bits_per_second: float
    failed: dict[str, int]
    unsent: int
    latency_means: str = ""
    cpu_seconds: SecondsByMode = field(default_factory=dict)
