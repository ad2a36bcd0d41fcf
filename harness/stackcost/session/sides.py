"""The sides of a turn: on this machine together, or some of them on other hosts."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pydantic_core import to_jsonable_python

from stackcost.bed import hugepages
from stackcost.bed.local import Cpus, check_cpus
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server
from stackcost.experiment.hosts import SshHost
from stackcost.experiment.matrix import Variant
from stackcost.experiment.schema import Experiment
from stackcost.host.patience import patience
from stackcost.hosts.examine import examine
from stackcost.hosts.line import Channel, Line
from stackcost.hosts.loading_there import loading_there
from stackcost.hosts.there import serving_there
from stackcost.loading.here import loading_here, loading_on
from stackcost.loading.several import Member, Several
from stackcost.loading.side import LoadingSide
from stackcost.serving.external import ServingNowhere
from stackcost.serving.here import serving_here
from stackcost.serving.side import ServingSide
from stackcost.session.generators import PlannedGenerator, generators_of, with_macs
from stackcost.session.progress import Progress
from stackcost.session.server_session import running_server, serving_plan
from stackcost.tuning import tier_of

THIS_MACHINE = "this machine"
Opened = AbstractContextManager[LoadingSide]
Lines = Callable[[str], Line]  # by the name of a host


@contextmanager
def both_sides(
    kind: type[Server], experiment: Experiment, folder: Path, where: str, progress: Progress
) -> Iterator[tuple[ServingSide, LoadingSide]]:
    """The serving side with a healthy server, and the loading side before it begins.

    All is undone on exit. `folder` is made for the configuration and logs of all programs.
    """
    if experiment.bed is None:
        with running_server(kind, experiment, folder, where, progress) as serving:

            def on_its_bed(each: PlannedGenerator) -> Opened:
                plan = each.plan(serving.wiring, experiment.patience)
                return loading_on(serving.bed, plan, folder)

            with _as_one(generators_of(experiment), on_its_bed) as (loading, _):
                yield serving, loading
        return
    folder.mkdir(parents=True, exist_ok=True)

    def say(what: str) -> None:
        progress.say(f"{where}: {what}")

    with patience(experiment.patience), ExitStack() as opened:

        def line_to(host: str) -> Line:
            say(f"host {host}: connecting")
            channel = _channel(host, experiment.hosts[host])
            return opened.enter_context(
                Line(host, channel, lambda what: say(f"host {host}: {what}"))
            )

        with _over_hosts(kind, experiment, folder, line_to, say) as sides:
            yield sides


@contextmanager
def _over_hosts(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    line_to: Callable[[str], Line],
    say: Callable[[str], None],
) -> Iterator[tuple[ServingSide, LoadingSide]]:
    """The generators' beds are made first: the server's side needs their MAC addresses."""
    assert experiment.bed is not None
    server = experiment.bed.server
    pages = 0 if kind.kernel_stack else hugepages.USUAL_COUNT
    plan = serving_plan(kind, experiment, pages, experiment.server_interfaces)
    wiring = kind.wiring_for(plan.settings)

    def on_its_host(each: PlannedGenerator) -> Opened:
        own = each.plan(wiring, experiment.patience)
        if each.host is None:
            return loading_here(own, folder, say)
        return loading_there(line_to(each.host), own, folder)

    planned = generators_of(experiment)
    with _as_one(planned, on_its_host) as (loading, members):
        macs = [member.neighbours()[0] for member in members[1:]]
        plan = replace(
            plan,
            neighbours=tuple(loading.neighbours()),
            gateways=with_macs(plan.gateways, macs),
        )
        cpus = next((each.cpus for each in planned if each.host is None), ())
        if server is None:
            yield ServingNowhere(kind, plan, cpus), loading
            return
        if server.host is None:
            with serving_here(kind, plan, folder, say) as here:
                yield here, loading
            return
        with serving_there(line_to(server.host), kind, plan, folder, cpus) as there:
            yield there, loading


@contextmanager
def _as_one(
    planned: list[PlannedGenerator], make: Callable[[PlannedGenerator], Opened]
) -> Iterator[tuple[LoadingSide, list[LoadingSide]]]:
    """The generators as one loading side, and each of them."""
    with ExitStack() as opened:
        sides = [opened.enter_context(make(each)) for each in planned]
        if len(sides) == 1:
            yield sides[0], sides
            return
        members = [
            Member(each.words, each.part, each.clients, side)
            for each, side in zip(planned, sides, strict=True)
        ]
        with closing(Several(members)) as several:
            yield several, sides


def lacking_there(systems: Iterable[Variant]) -> dict[str, str]:
    """By name of each system that the host of its server cannot measure: why not.

    Each other host is asked once; StackcostError if it cannot be, or if this machine lacks cores
    that an experiment names.
    """
    there: dict[str, str] = {}
    with ExitStack() as opened:
        lines: dict[str, Line] = {}
        for system in systems:
            experiment = system.experiment
            if experiment.bed is None:
                cores = experiment.cores
                check_cpus(Cpus(tuple(cores.load), tuple(cores.server)), cores.shared)
            if (host := experiment.server_host) is None:
                continue
            if host not in lines:
                opened.enter_context(patience(experiment.patience))
                channel = _channel(host, experiment.hosts[host])
                lines[host] = opened.enter_context(Line(host, channel, lambda _: None))
            asked = {
                "server": system.server,
                "stack": experiment.nginx.stack,
                "tier": to_jsonable_python(tier_of(experiment.nginx.tuning)),
                "cores": len(experiment.cores.server),
                "interfaces": list(experiment.server_interfaces),
            }
            if why := lines[host].call("lacks", **asked):
                there[system.name] = f"host {host}: {why}"
    return there


def problems_of_hosts(experiment: Experiment) -> dict[str, list[str]]:
    """What is wrong with each host of an experiment's test bed, by name; empty if nothing is.

    StackcostError if its test bed is that of one machine.
    """
    bed = experiment.bed
    if bed is None:
        raise StackcostError(
            "this experiment has no section bed: its test bed is this machine",
            "to check this machine, run: stackcost doctor",
        )
    parts = [(each.host, each.interfaces, each.cpus) for each in generators_of(experiment)]
    if server := bed.server:
        cores = tuple(experiment.cores.server)
        parts.append((server.host, tuple(server.interfaces), cores))
    return {
        host or THIS_MACHINE: _problems_of(experiment, host, interfaces, cores)
        for host, interfaces, cores in parts
    }


def _problems_of(
    experiment: Experiment, host: str | None, interfaces: tuple[str, ...], cores: tuple[int, ...]
) -> list[str]:
    if host is None:
        return examine(interfaces, cores)
    try:
        with (
            patience(experiment.patience),
            Line(host, _channel(host, experiment.hosts[host]), lambda _: None) as line,
        ):
            asked = line.call("examine", interfaces=list(interfaces), cores=list(cores))
            return list(asked)
    except StackcostError as error:
        return [str(error)]


def prepare_hosts(experiment: Experiment, wheel: Path, say: Callable[[str], None]) -> bool:
    """Install a wheel on each other host; returns whether the doctor of each found all.

    StackcostError when one cannot be prepared.
    """
    with _by_ssh(), patience(experiment.patience):
        from stackcost.hosts.prepare import prepare

        return all([prepare(name, each, wheel, say) for name, each in experiment.hosts.items()])


def _channel(name: str, host: SshHost) -> Channel:
    """An agent that is started by SSH."""
    with _by_ssh():
        from stackcost.hosts.ssh import SshChannel

        return SshChannel(name, host)


@contextmanager
def _by_ssh() -> Iterator[None]:
    """Inside, the library for SSH is imported, which is an extra of the package."""
    try:
        yield
    except ImportError as error:
        raise StackcostError(
            f"other hosts need {error.name}, which is not installed",
            "pip install 'stackcost[hosts]'",
        ) from error
