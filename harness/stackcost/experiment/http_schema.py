"""The section `http` of an experiment: HTTP clients, which are programs on the kernel's stack."""

import math
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from stackcost.clients import program as client_program
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.stack import KERNEL
from stackcost.experiment.entries import Once, StackName
from stackcost.experiment.section import Rate, Seconds, Section
from stackcost.host.timeouts import scaled_timeout

# The clients run for this long after the sustain window: reading the counters at its end takes some
# tens of milliseconds, and longer on a busy machine.
OVERHANG_S = 1.0
MOST_CONNECTIONS = 102_400_000  # 1,024 processes with 100,000 each

Program = Literal["wrk", "ab", "h2load", "h3client"]
Measures = Literal["connections", "requests", "throughput", "latency"]
Length = Annotated[int, Field(ge=0, le=1_000_000_000)]


def _as_list(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


class Concurrency(Section):
    """A search for the highest number of open connections with a low latency.

    The number is doubled from `first` while the 99th percentile stays below the limit and no
    request fails; then `steps` trials narrow the result.
    All numbers are sums over the clients.
    """

    p99_below_ms: float = Field(gt=0, le=3_600_000, description="limit of the 99th percentile")
    first: int = Field(ge=1, le=MOST_CONNECTIONS, description="connections of the first trial")
    most: int = Field(ge=1, le=MOST_CONNECTIONS, description="highest number of connections")
    steps: int = Field(default=2, ge=0, le=10, description="trials that narrow the result")
    trial_s: Seconds = Field(description="sustain time of each of its trials")


class HttpTest(Section):
    """One test: the requests of every client. Missing keys take the values of the section `http`.

    With `measures: connections` each request has a new connection.
    """

    name: str = Field(pattern=r"^[\w.-]+$", description="name in the results, such as rps-1k")
    measures: Measures = Field(description="the main figure of the test")
    body_bytes: Annotated[list[Length], BeforeValidator(_as_list)] = Field(
        min_length=1,
        description="length of the response body; a connection requests several in turn",
    )
    beside: list[Length] = Field(
        default=[],
        description="body lengths of other clients that run meanwhile, as many processes of each; "
        "rates and times are without them",
    )
    tls: bool = Field(default=False, description="HTTPS, with a full handshake for each connection")
    version: Annotated[HttpVersion, BeforeValidator(str)] = Field(
        default="1.1", description="version of HTTP; 2 and 3 need tls"
    )
    streams: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="requests under way at once on a connection of HTTP/2 or HTTP/3",
    )
    resumed: bool = Field(
        default=False,
        description="new connections resume TLS sessions by tickets",
    )
    connection: Literal["new", "kept"] | None = Field(
        default=None,
        description="a connection for each request, or kept open; the default depends on measures",
    )
    program: Program | None = Field(default=None, description="overrides http.program")
    connections: int | None = Field(
        default=None, ge=1, le=100_000, description="connections of each client process"
    )
    rates: Annotated[list[Rate], Once] = Field(
        default=[],
        description="requests/s of all clients together, constant, one trial for each; without "
        "any a closed loop",
    )

    @property
    def kept(self) -> bool:
        """Whether connections are kept open from one request to the next."""
        return (self.connection or ("new" if self.measures == "connections" else "kept")) == "kept"


class HttpLoad(Section):
    """HTTP clients, and the tests that they run one after the other."""

    program: Program = Field(description="client program")
    stack: StackName = Field(
        default=KERNEL,
        description="network stack of the clients; with a server on mptcp it is mptcp",
    )
    processes: int = Field(
        ge=1, le=1024, description="client processes; auto: one for each load core"
    )
    connections: int = Field(
        default=1, ge=1, le=100_000, description="connections of each client process"
    )
    concurrency: Concurrency | None = Field(
        default=None,
        description="search for the number of connections; replaces connections",
    )
    warm_up_s: Seconds = Field(description="warm-up time before the measured window")
    sustain_s: Seconds = Field(description="length of the measured window")
    tests: list[HttpTest] = Field(min_length=1, description="each test is one trial per round")

    @field_validator("tests")
    @classmethod
    def _named_once(cls, tests: list[HttpTest]) -> list[HttpTest]:
        names = [test.name for test in tests]
        if len(set(names)) < len(names):
            raise ValueError("two tests have the same name")
        return tests

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        for test in self.tests:
            client = client_program(self.program_of(test))
            if test.rates and not client.rates:
                raise ValueError(f"{test.name}: {client.name} cannot send at a rate, but h2load")
            if test.version not in client.versions:
                spoken = " and ".join(client.versions)
                raise ValueError(f"{test.name}: {client.name} speaks HTTP/{spoken} only")
            if test.version != "1.1" and not test.tls:
                raise ValueError(f"{test.name}: HTTP/{test.version} needs tls: true")
            if test.streams > 1 and test.version == "1.1":
                raise ValueError(f"{test.name}: a connection of HTTP/1.1 has one request at a time")
            if test.resumed and not (test.tls and client.resumes and not test.kept):
                raise ValueError(
                    f"{test.name}: only new connections of wrk over TLS resume a session"
                )
            if test.beside and test.rates:
                raise ValueError(f"{test.name}: clients beside those at a rate have no rate")
            if len(test.body_bytes) > 1 and self.program_of(test) == "ab":
                raise ValueError(f"{test.name}: ab can request one body length only")
        return self

    def program_of(self, test: HttpTest) -> Program:
        """The client program of a test."""
        return test.program or self.program

    def connections_of(self, test: HttpTest) -> int:
        """Connections of each client process in a test."""
        return test.connections or self.connections

    @property
    def most_connections(self) -> int:
        """The highest number of connections of all client processes together."""
        if self.concurrency:
            return self.concurrency.most
        return self.processes * max(
            self.connections_of(test) * (1 + len(test.beside)) for test in self.tests
        )

    @property
    def most_processes(self) -> int:
        """The highest number of client processes at once."""
        return self.processes * max(1 + len(test.beside) for test in self.tests)

    def clients_run_s(self, sustain_s: float) -> int:
        """How long clients run around a sustain window: programs take whole seconds only.

        A slow host needs longer to read everything before they end (`timeout_factor`).
        """
        return math.ceil(self.warm_up_s + sustain_s + scaled_timeout(OVERHANG_S))

    def test(self, name: str) -> HttpTest:
        """The test of this name."""
        return next(test for test in self.tests if test.name == name)

    @property
    def files(self) -> dict[str, int]:
        """Length of each file that the tests request, by its path below the server's root."""
        lengths = sorted(
            {length for test in self.tests for length in (*test.body_bytes, *test.beside)}
        )
        return {path_of(length): length for length in lengths}

    @property
    def tls(self) -> bool:
        """Whether any test is HTTPS."""
        return any(test.tls for test in self.tests)

    @property
    def resumes(self) -> bool:
        """Whether any test resumes sessions."""
        return any(test.resumed for test in self.tests)

    @property
    def versions(self) -> tuple[HttpVersion, ...]:
        """The versions of HTTP that the tests use."""
        return tuple(sorted({test.version for test in self.tests}))


def path_of(body_bytes: int) -> str:
    """The path at which a server serves the body of this length."""
    return f"/{body_bytes}.bin"
