"""The results as data: the content of `summary.json`, with a JSON schema.

Every figure is a `Spread`: the values of all trials, their median and range, and the unit. The
definition and the source of a figure are in `definitions`, under the figure's name.
"""

from typing import Literal

from pydantic import Field

from stackcost.analysis.checks import Check
from stackcost.analysis.comparison import Comparison
from stackcost.analysis.head import Head, Part
from stackcost.analysis.published import RecomputedFactors
from stackcost.analysis.spread import Spread
from stackcost.contracts.dut_settings import BehindOn
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.load import rate_words
from stackcost.contracts.tuning import Change

FORMAT = "stackcost-summary/1"
NOT_READ = "not read in runs of that time"
PUBLISHED_TCP = "published"  # of every run that does not say: there was no other


class Definition(Part):
    """The definition of a figure: its unit, its computation, and the source of its parts."""

    unit: str
    definition: str
    source: str


class HttpFigures(Part):
    """The settings of HTTP clients in a test, and the sums of their counts.

    `connections`: of each of the `processes`; `concurrency`: of all together, where it was found it
    may differ from round to round. `rate`: requests answered per second, of "new"
    connections so many connections. `bandwidth`: of what was received, headers included.
    `clients_busy`, `server_busy`: shares of the cores' time that was not idle. `latency_means`:
    what the program's times begin with, in words. `cores_shared`: clients ran on cores of the
    server's, so that each figure is of both. `version`, `streams`, `resumed`: as of `HttpSettings`.
    """

    program: str
    processes: int
    connections: int
    body_bytes: list[int]
    kept: bool
    tls: bool
    measures: Literal["connections", "requests", "throughput", "latency"]
    concurrency: Spread
    rate: Spread
    bandwidth: Spread
    failed: Spread
    unsent: Spread
    clients_busy: Spread
    server_busy: Spread
    latency_means: str
    cores_shared: bool = False
    version: HttpVersion = "1.1"
    streams: int = 1
    resumed: bool = False


class GeneratorFigures(Part):
    """One of several generators at one load. `part`: of the planned load, 0 to 1.

    `clients`: its range of addresses. `opened`: its share (0 to 1) of all opened connections.
    `late`: share of its connections that started more than 1 ms after their time. `busy`: share of
    its data cores' time with work. `started`: seconds from the start of the first generator.
    """

    name: str
    part: float
    clients: str
    opened: Spread
    late: Spread
    busy: Spread
    started: Spread


class CacheFigures(Part):
    """The figures of a cache on disk in a test.

    `hit_ratio`: share of requests that its origin did not get. `disk_share`: bytes read from disks
    by bytes that clients received. `blocked`: seconds per second that its threads were blocked, by
    part. `warm_at_start`: bytes of the objects that were in memory when the trial began.
    """

    hit_ratio: Spread
    disk_share: Spread
    blocked: dict[str, Spread]
    warm_at_start: Spread


class Level(Part):
    """One server at one offered load, over all rounds. CPU figures are per completed connection.

    Of HTTP clients it is one test: `test` names it, `offered_cps` is 0 for a closed loop, which
    offers no rate, and every figure "per completed connection" is per request.

    `server_cpu` and `generator_cpu` are by kind; `server_cpu_total` is the sum of the server's.
    `behind_cpu`: of the server behind a device, by kind; it is in that sum if they share cores
    (`behind_on` of `Summary`); empty without one.
    `beside_polling`: the kernel's time on the cores of a polling peer, which is not in that sum.
    `softirq`, `threads`: the time of the server's cores by softirq vector and by thread; `hardware`
    their cycles and instructions (counts). They explain the kinds and are not added to them.
    `undisturbed`: seconds of the sustain window in which nothing outside of the machine slowed the
    server's cores; from `UNDISTURBED_LEAST_S` on the server's cost is of them alone. `load_time`:
    what a load from memory that all cores of the host share took, nanoseconds.
    `closure`: exact time booked over all cores / (wall time x cores), 1 when nothing is lost.
    `latency`: by template group (empty: none), kind and percentile, microseconds. `timed`: number
    of connections in these percentiles; `attempted`: of those that began in the sustain windows,
    all groups together; None of HTTP clients.
    `cores`: share (0 to 1) of each core's time by kind, the median of the rounds.
    `acceptance`: RFC 9411's criteria, see `stackcost.analysis.acceptance`; none of HTTP clients.
    `process_memory`: of the server's processes, shared pages divided, in tests of HTTP clients.
    `connection_slab`: of the kernel's slab caches that connections are made of, of both ends, in
    these tests.
    `past_ceiling`: the first sign that the load was not held; then it is in no headline.
    `not_held`: whether it was past the server's ceiling, or a part was lost for another reason.
    `onload`: Onload's polls and events per second, by its own names; empty on other stacks.
    `generators`: each of several; empty where a single one made the load.
    `energy`: joules of the whole machine for a million connections. `packets`: of a connection,
    both ways at the server's interface; unknown where a frame holds several segments.
    """

    offered_cps: float
    completed_cps: Spread
    server_cpu: dict[str, Spread]
    server_cpu_total: Spread
    behind_cpu: dict[str, Spread] = Field(default_factory=dict)
    beside_polling: dict[str, Spread]
    softirq: dict[str, Spread]
    threads: dict[str, Spread]
    hardware: dict[str, Spread]
    undisturbed: Spread = Spread(unit="s", reason="not known of runs of that time")
    load_time: Spread = Spread(unit="ns", reason="not known of runs of that time")
    closure: Spread
    generator_cpu: dict[str, Spread]
    generator_busy: Spread
    receive_share: Spread
    cores: dict[str, dict[str, float]]
    latency: dict[str, dict[str, dict[str, Spread]]] = Field(default_factory=dict)
    timed: dict[str, dict[str, int]] = Field(default_factory=dict)
    attempted: int | None = None
    flagged_trials: int
    acceptance: list[Check] = Field(default_factory=list)
    test: str = ""
    http: HttpFigures | None = None
    process_memory: Spread | None = None
    connection_slab: Spread | None = None
    past_ceiling: str = ""
    not_held: str = ""
    cache: CacheFigures | None = None
    onload: dict[str, Spread] = Field(default_factory=dict)
    generators: list[GeneratorFigures] = Field(default_factory=list)
    energy: Spread = Spread(unit="J", reason=NOT_READ)
    packets: Spread = Spread(unit="1", reason=NOT_READ)

    @property
    def load(self) -> str:
        """The load as text, the same in every table: "4,000", "rps-1k", "rates at 4,000"."""
        rate = rate_words(self.offered_cps)
        if not self.test:
            return rate
        return f"{self.test} at {rate}" if self.offered_cps else self.test


class Memory(Part):
    """One server's memory. By kind of memory: bytes per open flow, and bytes with no open flow.

    `total` sums the kinds that `counted` names. `caches`: bytes per open flow of the kernel's
    slab caches, largest first. `points`: (open flows, bytes) by kind of memory, all rounds.
    `sockets`: TCP sockets of the kernel per open flow, of the system ("own") and of the server
    behind a device ("behind").
    """

    per_flow: dict[str, Spread]
    at_no_flow: dict[str, Spread]
    counted: list[str]
    total: Spread
    straightness: dict[str, Spread]
    caches: dict[str, Spread]
    points: dict[str, list[tuple[float, float]]]
    sockets: dict[str, Spread] = Field(default={})


class ServerResult(Part):
    """The costs of one server. `memory`: None if no flows were held open.

    `states`: the same of flows in other states of the kernel's stack, by state. `headline`: the
    offered load at which its cost is quoted.
    """

    name: str
    response_bytes: int | None
    levels: list[Level]
    memory: Memory | None
    states: dict[str, Memory] = Field(default={})
    headline: float | None = None

    @property
    def quoted(self) -> Level | None:
        """The level at `headline`; of HTTP tests, and where that is not known, the last level that
        the server held.
        """
        known = [level for level in self.levels if level.server_cpu_total.median is not None]
        held = [level for level in known if not level.past_ceiling]
        wanted = [level for level in held if level.offered_cps == self.headline and not level.test]
        return next(reversed(wanted or held), None)


class Factor(Part):
    """The factor between two systems: cost of `above` / cost of `below`. `at`: the load as text.

    `comparison`: of `above` (B) against `below` (A), with its verdict and what was set aside;
    None in a summary of before it was stored. `ratio`: its ratio and
    interval, with the rounds' own ratios. `above_cost`, `below_cost`: the costs themselves as other
    tables show them, in microseconds or bytes.

    Of a polling peer as `below`, the two bounds of CPU. `with_kernel`: the ratio to all that its
    side takes, with the kernel's work on its cores (`beside_polling`). `without_sending`: the
    ratio to its stack alone, without what it took to hand frames to the link (its kind "sending").
    """

    name: Literal["cpu", "memory"]
    above: str
    below: str
    at: str
    ratio: Spread
    above_cost: Spread
    below_cost: Spread
    with_kernel: Spread = Spread(unit="1", reason="only polling peers have such bounds")
    without_sending: Spread = Spread(unit="1", reason="only part of polling peers' CPU time")
    comparison: Comparison | None = None


class TrialRow(Part):
    """One trial, whatever its result. `set_aside`: why no figure uses it; empty for most.

    `undisturbed` (seconds) and `load_time` (nanoseconds) as of its `Level`. `whole_cpu_total`: the
    server's cost over the whole sustain window, undisturbed or not, us. `call_time`: what two known
    system calls took on its cores meanwhile, nanoseconds. `warm_up_s`: seconds from the start of
    the load to where its rate was steady. `variation`, `drift`, `correlation`: of that rate in the
    sustain window, see `stackcost.analysis.steadiness`. None: too few readings. `failures`: of the
    `flags` those that say what was not served as asked.
    """

    number: int
    round: int
    server: str
    part: Literal["load", "memory"]
    offered_cps: float
    test: str = ""
    open_flows: int | None
    completed: int
    failed: int
    retransmitted: int
    server_cpu_total: float | None
    whole_cpu_total: float | None = None
    undisturbed: float | None = None
    load_time: float | None = None
    call_time: float | None = None
    warm_up_s: float | None = None
    variation: float | None = None
    drift: float | None = None
    correlation: float | None = None
    flags: list[str]
    failures: list[str] = Field(default_factory=list)
    set_aside: str = ""
    checks: list[Check]


class Summary(Head):
    """One run.

    `behind_on`: whose cores a real server behind a device has, the device's or the load's; None
    without one. `tcp`: settings of the profiles' TCP, "today" or "published". `ceilings`:
    connections/s that each system held in the search before the first round; the loads are shares
    of them; empty if rates were given. `tuning`: by server, the result of each setting of its tier.
    `not_measured`: servers of the plan that this machine cannot measure, and why.
    `tests_not_measured`: the same of single tests of HTTP clients, as "system, test". `published`:
    published factors, recomputed. `core_hour_price`: of one core for one hour, in any currency;
    None: not given.
    """

    format: str = FORMAT
    servers: list[ServerResult]
    factors: list[Factor]
    trials: list[TrialRow]
    tcp: str = PUBLISHED_TCP
    behind_on: BehindOn | None = None
    ceilings: dict[str, float] = Field(default_factory=dict)
    tuning: dict[str, list[Change]] = Field(default_factory=dict)
    not_measured: dict[str, str] = Field(default_factory=dict)
    tests_not_measured: dict[str, str] = Field(default_factory=dict)
    published: RecomputedFactors | None = None
    core_hour_price: float | None = None
    definitions: dict[str, Definition] = Field(default_factory=dict)

    @property
    def has_tests(self) -> bool:
        """Whether HTTP clients were its load, and not ASTF profiles."""
        return any(level.test for server in self.servers for level in server.levels)
