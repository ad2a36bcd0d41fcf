"""What an experiment may say of HTTP clients: programs on the kernel's stack."""

import math
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from stackcost.contracts.stack import KERNEL
from stackcost.harness.experiment.section import Rate, Seconds, Section, StackName

# The clients go on for so long after the sustain window: reading its last edge takes some tens of
# milliseconds, on a busy machine more.
OVERHANG_S = 1.0

Program = Literal["wrk", "ab", "h2load"]
Measures = Literal["connections", "requests", "throughput", "latency"]
Length = Annotated[int, Field(ge=0, le=1_000_000_000)]


def _as_list(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


class Concurrency(Section):
    """How many connections are open at once is found, not given: the most with short waits.

    Doubled from `first` while the 99th percentile of a trial stays below the limit and nothing
    fails, then narrowed down `steps` times; never more than `most`. Counts are of all clients.
    """

    p99_below_ms: float = Field(gt=0, description="limit of the 99th percentile")
    first: int = Field(ge=1, description="connections of the first trial")
    most: int = Field(ge=1, description="never more connections than this")
    steps: int = Field(
        default=2, ge=0, le=10, description="trials that narrow the result after the doubling"
    )
    trial_s: Seconds = Field(description="sustain time of each trial of the search")


class HttpTest(Section):
    """One test: what every client asks for. What is left out is as the whole load says.

    `measures`: which figure is the answer, as in the tables of publications; of "connections" each
    request has one of its own.
    """

    name: str = Field(pattern=r"^[\w.-]+$", description="how it is called in results: tps, rps-1k")
    measures: Measures = Field(description="the figure that is the answer")
    body_bytes: Annotated[list[Length], BeforeValidator(_as_list)] = Field(
        min_length=1, description="length of the body; of several, each connection asks in turn"
    )
    tls: bool = Field(default=False, description="HTTPS, with a full handshake each connection")
    connection: Literal["new", "kept"] | None = Field(
        default=None, description="new for each request, or kept open; by what is measured"
    )
    program: Program | None = Field(
        default=None, description="client of this test, in place of http.program"
    )
    connections: int | None = Field(default=None, ge=1, description="of each client process")
    rates: list[Rate] = Field(
        default=[],
        description="requests/s of all clients together, each a trial: a constant rate, whatever "
        "the answers do; without any, a closed loop",
    )

    @property
    def kept(self) -> bool:
        """Whether connections are kept open from one request to the next."""
        return (self.connection or ("new" if self.measures == "connections" else "kept")) == "kept"


class HttpLoad(Section):
    """Clients that ask a server over HTTP, and the tests that they make one after the other."""

    program: Program = Field(description="the client; a closed loop, unless a test has rates")
    stack: StackName = Field(default=KERNEL, description="what carries the clients' connections")
    processes: int = Field(
        ge=1, le=1024, description="client processes; auto: one for each core of the load"
    )
    connections: int = Field(default=1, ge=1, le=100_000, description="of each client process")
    concurrency: Concurrency | None = Field(
        default=None, description="in place of connections: found in each turn"
    )
    warm_up_s: Seconds = Field(description="time before the window that is measured")
    sustain_s: Seconds = Field(description="length of the window that is measured")
    tests: list[HttpTest] = Field(min_length=1, description="each is one trial in every round")

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
            if test.rates and self.program_of(test) != "h2load":
                raise ValueError(f"{test.name}: only h2load keeps to rates")
            if len(test.body_bytes) > 1 and self.program_of(test) == "ab":
                raise ValueError(f"{test.name}: ab asks for one body only")
        return self

    def program_of(self, test: HttpTest) -> Program:
        """The client program of a test."""
        return test.program or self.program

    def connections_of(self, test: HttpTest) -> int:
        """Connections of each client process in a test."""
        return test.connections or self.connections

    @property
    def most_connections(self) -> int:
        """Of all client processes at once."""
        if self.concurrency:
            return self.concurrency.most
        return self.processes * max(self.connections_of(test) for test in self.tests)

    def clients_run_s(self, sustain_s: float) -> int:
        """How long clients run around a sustain window: programs take whole seconds only."""
        return math.ceil(self.warm_up_s + sustain_s + OVERHANG_S)

    def test(self, name: str) -> HttpTest:
        """The test of this name."""
        return next(test for test in self.tests if test.name == name)

    @property
    def files(self) -> dict[str, int]:
        """Length of each file that the tests ask for, by its path below the server's root."""
        lengths = sorted({length for test in self.tests for length in test.body_bytes})
        return {path_of(length): length for length in lengths}

    @property
    def tls(self) -> bool:
        """Whether any test is HTTPS."""
        return any(test.tls for test in self.tests)


def path_of(body_bytes: int) -> str:
    """Where a server has the body of this length."""
    return f"/{body_bytes}.bin"
