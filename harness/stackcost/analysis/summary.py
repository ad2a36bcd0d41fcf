"""The results as data: the content of `summary.json`, with a JSON schema.

Every figure is a `Spread`: the values of all trials, their median and range, and the unit. The
figures of a load or of held flows are a mapping by name; `stackcost.analysis.figures` declares
them, and `definitions` has what each is and where it was read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from stackcost.analysis.comparing.comparison import Comparison
from stackcost.analysis.head import (
    COST,
    COST_BY_KIND,
    Figures,
    Flagged,
    Head,
    SummaryPart,
    SystemFigure,
)
from stackcost.analysis.spread import Spread
from stackcost.analysis.trial.checks import Check
from stackcost.contracts.dut_settings import BackendOn
from stackcost.contracts.http import HttpSettings
from stackcost.contracts.latency import PERCENTILES
from stackcost.contracts.load import ESTABLISHED, load_words, rate_words
from stackcost.contracts.system import NotMeasured, System, is_device
from stackcost.contracts.tuning import Change


@dataclass
class ClientSettings(HttpSettings):
    """The settings of HTTP clients in a test. `latency_means`: what the program's times begin with,
    in words. `cores_shared`: clients ran on cores of the server's, so that each figure is of both.
    """

    latency_means: str = ""


class GeneratorResult(SummaryPart):
    """One of several generators at one load. `part`: of the planned load, 0 to 1. `clients`: its
    range of addresses.
    """

    part: float
    clients: str


class Level(Figures):
    """One server at one offered load, over all rounds. CPU figures are per completed connection.

    Of HTTP clients it is one test: `test` names it, `http` has its settings, `offered_cps` is 0 for
    a closed loop, which offers no rate, and every figure "per completed connection" is per request.

    `timed`: number of connections in the percentiles of latency, by template group (empty: none)
    and kind; `attempted`: of those that began in the sustain windows, all groups together; None of
    HTTP clients.
    `cores`: share (0 to 1) of each core's time by kind, the median of the rounds.
    `acceptance`: RFC 9411's criteria, see `trial.acceptance`; none of HTTP clients.
    `past_ceiling`: the first sign that the load was not held; then it is in no headline.
    `not_held`: whether it was past the server's ceiling, or a part was lost for another reason.
    `generators`: each of several by name; empty where a single one made the load.
    """

    offered_cps: float
    test: str = ""
    http: ClientSettings | None = None
    cores: dict[str, dict[str, float]] = Field(default_factory=dict)
    timed: dict[str, dict[str, int]] = Field(default_factory=dict)
    attempted: int | None = None
    flagged_trials: int
    acceptance: list[Check] = Field(default_factory=list)
    past_ceiling: str = ""
    not_held: str = ""
    generators: dict[str, GeneratorResult] = Field(default_factory=dict)

    @property
    def load(self) -> str:
        """The load as text."""
        return load_words(self.test, self.offered_cps)

    @property
    def cost(self) -> Spread:
        """All that a connection takes on the server's side."""
        return self[COST]

    @property
    def costs(self) -> dict[str, Spread]:
        """That by kind, without the kernel's work beside a polling peer."""
        return self.kinds(COST_BY_KIND)

    @property
    def latency(self) -> dict[str, dict[str, dict[str, Spread]]]:
        """Percentiles, us, by template group (empty: none), kind of time and percentile."""
        found: dict[str, dict[str, dict[str, Spread]]] = {}
        for name, spread in self.kinds("latency").items():
            percentile = next(each for each in PERCENTILES if name.endswith(f".{each}"))
            group, _, kind = name.removesuffix(f".{percentile}").rpartition(".")
            found.setdefault(group, {}).setdefault(kind, {})[percentile] = spread
        return found


class Memory(Figures):
    """One server's memory: its figures by kind of memory.

    `counted`: the kinds of which "memory.total" is the sum. `counted_caches`: the caches of
    "memory.caches" that are in it. `points`: (open flows, bytes) by kind of memory, all rounds.
    """

    counted: list[str]
    counted_caches: list[str]
    points: dict[str, list[tuple[float, float]]]

    def counts(self, name: str) -> bool:
        """Whether what a figure is of is in the total: its kind, or its cache and kernel slab."""
        _, what, *kind = name.split(".", 2)
        if what in ("caches", "owners"):
            return kind[0].partition(": ")[0] in self.counted_caches
        return not kind or kind[0] in self.counted


class ServerResult(System):
    """The costs of one system. `memories`: by the state in which flows were held open, established
    ones first; empty if none were. `headline`: the offered load at which its cost is quoted.
    """

    response_bytes: int | None
    levels: list[Level]
    memories: dict[str, Memory] = Field(default_factory=dict)
    headline: float | None = None

    @property
    def is_device(self) -> bool:
        """Whether it is a device; one of the user's own is known by the frames counted at it."""
        return is_device(self.server) or any(each.kinds("frames_lost") for each in self.levels)

    @property
    def memory(self) -> Memory | None:
        """That of established flows."""
        return self.memories.get(ESTABLISHED)

    @property
    def quoted(self) -> Level | None:
        """The level at `headline`; of HTTP tests, and where that is not known, the last level that
        the server held.
        """
        known = [level for level in self.levels if level.cost.median is not None]
        held = [level for level in known if not level.past_ceiling]
        wanted = [level for level in held if level.offered_cps == self.headline and not level.test]
        return next(reversed(wanted or held), None)


class Factor(SummaryPart):
    """The cost of `baseline` divided by the cost of `against`. `at`: the load as text.

    `comparison`: of `baseline` (B) against `against` (A), with its verdict and what was set aside.
    `ratio`: its ratio and interval, with the
    rounds' own ratios. `baseline_cost`, `against_cost`: the costs themselves, in microseconds or
    bytes, of the rounds in which both are known; `at` says so if those are not all.
    """

    name: Literal["cpu", "memory"]
    baseline: str
    against: str
    at: str
    ratio: Spread
    baseline_cost: Spread
    against_cost: Spread
    comparison: Comparison

    def is_at(self, rate: float) -> bool:
        """Whether its CPU costs are those at this rate, connections/s."""
        return self.at.startswith(f"{rate_words(rate)} connections/s")


class TrialRow(SummaryPart):
    """One trial, whatever its result. `set_aside`: why no figure uses it; empty for most.

    `failures`: of the `flags` those that say what was not served as asked; `disturbed`: those that
    say what the machine or the load's side did to it.
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
    flags: list[str]
    failures: list[str] = Field(default_factory=list)
    disturbed: list[str] = Field(default_factory=list)
    set_aside: str = ""
    checks: list[Check]


class Summary(Head):
    """One run.

    `backend_on`: whose cores a real server behind a device has, the device's or the load's; None
    without one. `tcp`: settings of the profiles' TCP, "today" or "published". `ceilings`:
    connections/s that each system held in the search before the first round; the loads are shares
    of them; empty if rates were given. `loads_not_held`: highest loads that a system did not hold
    when they were tried before the first round; for each its ceiling is a tenth lower. `tuning`: by
    server, the result of each setting of its tier.
    `not_measured`: systems of the plan that this machine cannot measure, and why.
    `tests_not_measured`: the same of single tests of HTTP clients, as "system, test".
    `core_hour_price`: of one core for one hour, in any currency; None: not given.
    """

    format: Literal["stackcost-summary/5"] = "stackcost-summary/5"
    servers: list[ServerResult] = Field(default_factory=list)
    factors: list[Factor] = Field(default_factory=list)
    trials: list[TrialRow] = Field(default_factory=list)
    tcp: str
    backend_on: BackendOn | None = None
    ceilings: dict[str, float] = Field(default_factory=dict)
    loads_not_held: dict[str, list[float]] = Field(default_factory=dict)
    tuning: dict[str, list[Change]] = Field(default_factory=dict)
    not_measured: list[NotMeasured] = Field(default_factory=list)
    tests_not_measured: dict[str, str] = Field(default_factory=dict)
    core_hour_price: float | None = None

    @property
    def loads(self) -> list[tuple[ServerResult, Level]]:
        """Every load of every system."""
        return [(server, level) for server in self.servers for level in server.levels]

    @property
    def has_tests(self) -> bool:
        """Whether HTTP clients were its load, and not ASTF profiles."""
        return any(level.test for _, level in self.loads)

    @property
    def reasons(self) -> dict[str, str]:
        """Why systems, and tests of them, could not be measured, by their names."""
        return {each.name: each.why for each in self.not_measured} | self.tests_not_measured

    @property
    def systems(self) -> list[str]:
        """The names of the systems that have figures."""
        return [server.name for server in self.servers]

    def system_figures(self) -> Iterator[SystemFigure]:
        """All figures of all systems: of each load, then of held flows."""
        for server in self.servers:
            for level in server.levels:
                quoted = level is server.quoted
                for name, spread in level.figures.items():
                    at = server.name, name, level.offered_cps, spread, "", level.test
                    yield SystemFigure(*at, quoted, level.past_ceiling)
            for state, memory in server.memories.items():
                for name, spread in memory.figures.items():
                    held = server.name, name, None, spread, "open flows", state
                    yield SystemFigure(*held, memory.counts(name))

    def used_trials(self) -> Iterator[Flagged]:
        """The trials that its figures use, with their flags."""
        return (Flagged(row.server, row.flags) for row in self.trials if not row.set_aside)
