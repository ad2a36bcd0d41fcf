"""Figures of stored runs that a published figure may stand beside, each with what it is of."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.ceiling.summary import Ceiling
from stackcost.analysis.extrapolate import at_line_rate, cores_at_line_rate
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import ClientSettings, Factor, Level, ServerResult
from stackcost.contracts.http import RSA, Certificate
from stackcost.contracts.latency import PERCENTILES
from stackcost.contracts.network import NetworkSettings
from stackcost.contracts.system import NETWORK, System, label
from stackcost.contracts.tls import VariedTls
from stackcost.report.http_figures import Curve, limit_of, series
from stackcost.report.published.document import Load, Measurement, Shape
from stackcost.report.results.opened import (
    OpenedCeilings,
    OpenedCosts,
    OpenedRuns,
)
from stackcost.store import Manifest

WORKERS, CORES, OFFERED = "worker processes", "cores", "requests/s"
LINE, PERCENTILE = "Gb/s of a line", "percentile"
FULL_LINK = "connections/s of a full link"
COMPUTED = (
    LINE,
    FULL_LINK,
    PERCENTILE,
)  # axes on which ours has a figure at any x that a table asks for
LINES_GBPS = (5, 100)  # of which publications say what they take
FULL_LINKS = (111_600, 446_400)  # of 10 Gb/s by the white paper's own highest rate, and of 40 Gb/s
SEARCHED: dict[str, Shape] = {"connections": "connections", "requests": "requests"}
WHOLE: Shape = "distribution"
PARTS: dict[str, Shape] = {
    "connect": "distribution of connect",
    "first_byte": "distribution of first byte",
}
ASTF: Load = "ASTF profile"
PLAIN: VariedTls = "plain"
OPEN = "open"  # flows, by `at_line_rate`


class MeasuredFigure(BaseModel):
    """One figure of ours, in the unit of its shape. `what`: system and test, in words.

    `series`: the same for figures that differ only in x, so that they may be divided. `limit`: what
    else than the system set it, in words, so that it has no ratio. `share`: of a rate that was
    offered, by the highest rate of the system's closed loops of the same requests; None without.
    """

    model_config = ConfigDict(frozen=True)

    of: Measurement
    x: float | None
    series: str
    what: str
    run: str
    value: float
    low: float
    high: float
    limit: str = ""
    share: float | None = None


def measured(runs: OpenedRuns) -> Iterator[MeasuredFigure]:
    """Every figure of these runs that a published one may stand beside."""
    for costs in runs.costs:
        if costs.summary.has_tests:
            yield from _tested(costs)
            continue
        for server in costs.summary.servers:
            yield from _memory(costs, server)
            yield from _at_lines(costs, server)
        for factor in costs.summary.factors:
            yield from _factor(costs, factor)
    for ceilings in runs.ceilings:
        for ceiling in ceilings.summary.ceilings:
            yield from _searched(ceilings, ceiling)


def _tested(run: OpenedCosts) -> Iterator[MeasuredFigure]:
    """The figures of HTTP clients. Those of clients on the server's own cores join nothing."""
    every = series(run.summary)
    columns = {each.name: each for each, _, _ in (s.axis() for s in run.summary.servers)}
    for one in every:
        for name, points in one.points.items():
            system = columns[name]
            for count, level in points.items():
                if level.http is None or one.shared:
                    continue
                what = f"{name}, {one.name}"
                for axis, x in _places(run, one, count):
                    of = _requested(run, system, one.what, axis, level.http)
                    value, test = one.value(level), f"{name}, {one.test}"
                    limit = "" if one.what == "latency" else limit_of(level)
                    ceiling = _closed_loops(every, name, count, level.http) if one.offered else None
                    share = one.offered / ceiling if ceiling else None
                    for figure in _known(of, x, what, run.summary.run, value, test, limit):
                        yield figure.model_copy(update={"share": share})
                if not one.offered and one.what == level.http.measures:
                    yield from _distribution(run, system, level, what)
                if one.what == "throughput":
                    cores = dict(_places(run, one, count))[CORES]
                    yield from _cores_for_links(run, system, level, what, cores)


def _closed_loops(
    every: Sequence[Curve], name: str, count: int, like: ClientSettings
) -> float | None:
    """The highest rate of a system's closed loops with the same requests; None without any."""
    levels = (one.points.get(name, {}).get(count) for one in every if not one.offered)
    same = (like.body_bytes, like.kept, like.tls)
    rates = [
        level["http.rate"].median
        for level in levels
        if level and level.http and (level.http.body_bytes, level.http.kept, level.http.tls) == same
    ]
    return max(filter(None, rates), default=None)


def _distribution(
    run: OpenedCosts, system: System, level: Level, what: str
) -> Iterator[MeasuredFigure]:
    """The percentiles of a closed loop's times."""
    http = level.http
    kinds = next(iter(level.latency.values()), {})
    if http is None or not kinds:
        return
    whole = "completion" if "completion" in kinds else next(iter(kinds))
    for kind, shape in {whole: WHOLE, **PARTS}.items():
        of = _requested(run, system, shape, PERCENTILE, http)
        for each, value in kinds.get(kind, {}).items():
            yield from _known(of, PERCENTILES[each], what, run.summary.run, value)


def _cores_for_links(
    run: OpenedCosts, system: System, level: Level, what: str, cores: float
) -> Iterator[MeasuredFigure]:
    """The cores for a full link's connections if each made as many as one of these.

    By connections, because ours are counted in bytes of HTTP and a link's rate has all headers.
    """
    http = level.http
    if http is None or http.measures != "connections":
        return
    of = _requested(run, system, "cores", FULL_LINK, http)
    for rate in FULL_LINKS:
        each = [cores * rate / own for own in level["http.rate"].values if own]
        value = spread(each, "cores", rounds=level["http.rate"].rounds[: len(each)])
        words = f"{what}, times its cores"
        yield from _known(of, rate, words, run.summary.run, value, limit=limit_of(level))


def _certificate(run: OpenedCosts, system: System) -> Certificate:
    """The key of a system's certificate: its own if it varies, else that of the plan."""
    planned: Any = run.manifest.experiment["server"]["certificate"]
    certificate: Certificate = system.settings.get("certificate", planned)
    return certificate


def _requested(
    run: OpenedCosts, system: System, shape: Shape, axis: str, http: ClientSettings
) -> Measurement:
    return Measurement(
        system=system.server,
        shape=shape,
        axis=axis,
        response_bytes=tuple(http.body_bytes),
        beside=tuple(http.beside),
        tls=http.tls,
        certificate=_certificate(run, system) if http.tls else RSA,
        resumed=http.resumed,
        version=http.version,
        reuseport=_has_reuseport(run.manifest, system),
        connections=http.connections,
    )


def _has_reuseport(manifest: Manifest, system: System) -> bool:
    """By the system's settings if it varies, else by the plan."""
    return bool(system.settings.get("reuseport", manifest.experiment["server"]["reuseport"]))


def _of_profile(manifest: Manifest, system: System) -> dict[str, Any]:
    """The settings of an ASTF profile's connections, and of the link that they pass."""
    plan = manifest.experiment
    link = plan["network"] | system.network
    parts = [
        label(f"{NETWORK}{key}", link[key])
        for key, usual in NetworkSettings().model_dump().items()
        if link[key] != usual
    ]
    varied = system.settings.get("tls")
    tls = varied != PLAIN if varied else bool(plan["load"]["tls"])
    return {
        "reuseport": _has_reuseport(manifest, system),
        "load": ASTF,
        "tls": tls,
        "tcp": plan["workload"]["tcp"],
        "network": ", ".join(parts),
    }


def _places(run: OpenedCosts, one: Curve, count: int) -> Iterator[tuple[str, float]]:
    """The places of a test's figure on the axes that published tables have."""
    if one.offered:
        yield OFFERED, one.offered
        return
    varied = {server.axis()[2] for server in run.summary.servers}
    yield WORKERS, count if WORKERS in varied else _workers_in(run.manifest)
    yield CORES, count if CORES in varied else _cores_in(run.manifest)


def _memory(run: OpenedCosts, server: ServerResult) -> Iterator[MeasuredFigure]:
    """Bytes per open flow."""
    if server.memory:
        settings = _of_profile(run.manifest, server)
        of = Measurement(system=server.server, shape="memory", **settings)
        what = f"{server.name}, slope over open flows"
        yield from _known(of, None, what, run.summary.run, server.memory["memory.total"])


def _at_lines(run: OpenedCosts, server: ServerResult) -> Iterator[MeasuredFigure]:
    """What a busy core carries; cores, and memory of the open flows, for a line of payload."""
    if not server.response_bytes:
        return
    of = Measurement(
        system=server.server,
        shape="cores",
        axis=LINE,
        response_bytes=(server.response_bytes,),
        **_of_profile(run.manifest, server),
    )
    core = cores_at_line_rate(server)
    of_a_core: dict[Shape, Spread] = {
        "connections": core.connections_per_core,
        "throughput": core.bits_per_core,
        "packets": core.packets_per_core,
    }
    for shape, value in of_a_core.items():
        of_one = of.model_copy(update={"shape": shape, "axis": CORES})
        what = f"{server.name}, a core that is busy all the time, by the slope"
        yield from _known(of_one, 1, what, run.summary.run, value)
    for line in LINES_GBPS:
        cores = cores_at_line_rate(server, line * 1e9).cores
        what = f"{server.name}, slope of busy cores over load"
        yield from _known(of, line, what, run.summary.run, cores)
        for each in at_line_rate(server, line * 1e9):
            if each.state == OPEN and server.memory:
                of_memory = of.model_copy(update={"shape": "line memory"})
                own = server.memory["memory.total"]
                total = spread([each.flows * slope for slope in own.values], "B", rounds=own.rounds)
                what = f"{server.name}, {each.flows:,.0f} open flows"
                yield from _known(of_memory, line, what, run.summary.run, total)


def _factor(run: OpenedCosts, factor: Factor) -> Iterator[MeasuredFigure]:
    """How many times the cost of one system is that of another one."""
    shapes: dict[str, Shape] = {"cpu": "cpu factor", "memory": "memory factor"}
    systems = {server.name: server for server in run.summary.servers}
    baseline, against = systems[factor.baseline], systems[factor.against]
    of = Measurement(
        system=f"{baseline.server} : {against.server}",
        shape=shapes[factor.name],
        **_of_profile(run.manifest, baseline),
    )
    what = f"{factor.baseline} : {factor.against}, {factor.at}"
    yield from _known(of, None, what, run.summary.run, factor.ratio)


def _searched(run: OpenedCeilings, ceiling: Ceiling) -> Iterator[MeasuredFigure]:
    """The highest load without loss (NDR) of a search."""
    shape = SEARCHED.get(ceiling.of)
    if shape is None:
        return
    measured = next(each for each in run.manifest.systems if each.name == ceiling.server)
    system, count, axis = measured.axis()
    planned = run.manifest.experiment["workload"]["response_bytes"]
    length = int(system.settings.get("response_bytes", planned))
    for rate in ceiling.rates:
        if rate.name != "NDR" or rate.value is None or rate.lower is None:
            continue
        low, high = min(rate.value, rate.lower), max(rate.value, rate.upper or rate.lower)
        kinds: list[tuple[Shape, float, str]] = [(shape, 1.0, "NDR")]
        if shape == "connections":
            kinds.append(("throughput", 8 * length / 1e9, "NDR, payload of the responses"))
        for kind, size, words in kinds:
            of = Measurement(
                system=system.server,
                shape=kind,
                axis=CORES,
                response_bytes=(length,),
                **_of_profile(run.manifest, system),
            )
            value = Spread(
                unit="", median=rate.value * size, minimum=low * size, maximum=high * size
            )
            x = count if axis == CORES else _cores_in(run.manifest)
            what = f"{ceiling.server}, {words}"
            of_run = run.summary.run, value, system.name, ceiling.at_least
            yield from _known(of, x, what, *of_run)


def _known(
    of: Measurement,
    x: float | None,
    what: str,
    run: str,
    value: Spread,
    series: str = "",
    limit: str = "",
) -> Iterator[MeasuredFigure]:
    """`series`: `what` by default."""
    low, middle, high = value.minimum, value.median, value.maximum
    if middle is not None and low is not None and high is not None:
        yield MeasuredFigure(
            of=of,
            x=x,
            series=series or what,
            what=what,
            run=run,
            value=middle,
            low=low,
            high=high,
            limit=limit,
        )


def _cores_in(manifest: Manifest) -> int:
    return len(manifest.experiment["cores"]["server"])


def _workers_in(manifest: Manifest) -> int:
    """Worker processes of a run's server; by default one for each of its cores."""
    return manifest.experiment["server"]["workers"] or _cores_in(manifest)
