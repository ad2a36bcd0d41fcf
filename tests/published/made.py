"""Made-up runs beside the publications."""

from collections.abc import Sequence
from typing import Any

from stackcost.analysis.ceiling.summary import Ceiling, CeilingSummary, Rate
from stackcost.contracts.network import NetworkSettings
from stackcost.contracts.sample import Sample
from stackcost.contracts.system import NotMeasured, System
from stackcost.report.published.document import documents
from stackcost.report.published.match import PublishedMatch, matches
from stackcost.report.published.tables import matches_table
from stackcost.report.results.opened import OpenedCeilings, OpenedCosts, OpenedRuns
from stackcost.store import Manifest
from tests.analysis.http_trials import asked, summary
from tests.analysis.trials import END, START, counter

ANSWERED = 50_000.0  # requests/s
BITS = 8e9  # per second
ONE_CORE = System.of("astf-peer", {"cores": 1})
SEARCHED = [ONE_CORE, System.of("nginx/kernel")]


def run_of(
    *servers: str | System,
    measures: str,
    body: int,
    offered: float = 0.0,
    tls: bool = False,
    shared: bool = False,
    resumed: bool = False,
    busy: tuple[float, float] = (0.8, 1.0),
    beside: Sequence[int] = (),
    connections: int = 0,
    others: float = 0.0,
) -> OpenedRuns:
    """A run of one test of HTTP clients on each server; each answers more than the one before.

    `busy`: shares of the clients' and of the server's core. `connections`: of each client; 0: as
    many as the cookbook of the first server has. `others`: what other programs took of the server's
    core.
    """
    systems = [System.of(each) if isinstance(each, str) else each for each in servers]
    connections = connections or (100 if systems[0].server.startswith("haproxy") else 50)
    trials = []
    for times, system in enumerate(systems, 1):
        trial = asked("wrk", connections, "made", offered, times * ANSWERED)
        trial.server = system.name
        settings, counted = trial.load.settings, trial.load.counted
        settings.measures, settings.body_bytes, settings.beside = measures, [body], list(beside)
        settings.tls, settings.cores_shared, settings.resumed = tls, shared, resumed
        counted.rate, counted.bits_per_second = times * ANSWERED, BITS
        kept = [each for each in trial.samples if each.metric != "cpu.exact_time"]
        trial.samples = kept + busy_cores(*busy)
        who = {"cpu": "1", "process": "99", "thread": "99", "command": "cc1plus", "kind": "task"}
        trial.samples += counter("task.time", others * (END - START), who)
        trials.append(trial)
    return OpenedRuns(costs=[OpenedCosts(manifest(), summary(*trials, systems=systems))])


def busy_cores(*shares: float) -> list[Sample]:
    """Exact time of cores 0 (clients) and 1 (server) that were busy for these shares."""
    length = END - START
    found = []
    for cpu, share in enumerate(shares):
        for kind, part in (("user", share), ("idle", 1 - share)):
            labels = {"cpu": str(cpu), "kind": kind}
            found += counter("cpu.exact_time", part * length, labels)
    return found


def manifest(**workload: Any) -> Manifest:
    made: dict[str, Any] = {
        "server": {"workers": 4, "reuseport": True, "certificate": "rsa-2048"},
        "cores": {"load": [0], "server": [1, 2]},
        "network": NetworkSettings().model_dump(),
        "load": {"tls": None},
        "http": None,
    }
    machine = {"processors": {"model": "made"}, "kernel": {"release": "6.18.0"}}
    return Manifest(run="made", experiment=made | workload, systems=SEARCHED, machine=machine)


def lacking(server: str, settings: dict[str, Any], why: str) -> NotMeasured:
    return NotMeasured(**System.of(server, settings).model_dump(), why=why)


def joined(document: str, runs: OpenedRuns) -> dict[str, PublishedMatch]:
    """Our figures beside printed ones, by table."""
    found = matches(documents()[document], runs)
    return {each.table: each for each in found if each.published is not None}


def reasons(document: str, runs: OpenedRuns) -> dict[str, str]:
    """Why columns of a table have none of ours, by table."""
    told: dict[str, str] = {}
    for each in matches(documents()[document], runs):
        if each.value is None:
            told[each.table] = f"{told.get(each.table, '')}\n{each.reason}"
    return told


def searched(at_least: str = "", system: str = ONE_CORE.name, **workload: Any) -> OpenedRuns:
    """A search of a system, by default the peer on one core; 32,000 bytes."""
    rate = Rate(name="NDR", loss_ratio=0.0, value=9e3, lower=8e3, upper=9e3)
    ceiling = Ceiling.model_construct(
        server=system, of="connections", rates=[rate], at_least=at_least
    )
    found = CeilingSummary.model_construct(run="made", ceilings=[ceiling])
    setup = manifest(workload={"response_bytes": 32000, "tcp": ""} | workload)
    return OpenedRuns(ceilings=[OpenedCeilings(setup, found)])


def told(document: str, column: str, runs: OpenedRuns) -> tuple[PublishedMatch, str, str]:
    """A column's figure of ours, and its cells: measured here, and the ratio."""
    whole = documents()[document]
    found = next(e for e in matches(whole, runs) if e.column == column and e.value is not None)
    (row,) = matches_table(whole, [found]).rows
    return found, row[3], row[4]
