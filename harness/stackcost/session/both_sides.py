"""The server and the generators of a turn: on this machine, or on other hosts."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from stackcost.bed import hugepages
from stackcost.bed.local import Cpus, check_cpus
from stackcost.bed.tuning import tier_of
from stackcost.contracts.errors import StackcostError, needing_extra
from stackcost.contracts.server import Server
from stackcost.experiment.hosts import SshHost
from stackcost.experiment.matrix import Variant
from stackcost.experiment.schema import Experiment
from stackcost.host.timeouts import timeout_factor
from stackcost.hosts.agent import Agent, examine
from stackcost.hosts.host import Host
from stackcost.hosts.remote import remote_generator, remote_server
from stackcost.remote.connection import Channel
from stackcost.session.generators import generators_of, with_macs
from stackcost.session.progress import Progress
from stackcost.session.server_session import running_server, server_plan
from stackcost.sides.external_device import ExternalDevice
from stackcost.sides.generator import RunningGenerator, client_of, generator_on, local_generator
from stackcost.sides.generator_group import GeneratorGroup, Member
from stackcost.sides.plans import GeneratorPlan
from stackcost.sides.server import RunningServer, local_server

THIS_MACHINE = "this machine"
Opened = AbstractContextManager[RunningGenerator]


@contextmanager
def server_and_generator(
    kind: type[Server], experiment: Experiment, folder: Path, progress: Progress
) -> Iterator[tuple[RunningServer, RunningGenerator]]:
    """A healthy server, and the generator before it begins; several generators are a group.

    All is undone on exit. `folder` is made for the configuration and logs of all programs.
    """
    if experiment.bed is None:
        planned = generators_of(experiment)
        with timeout_factor(experiment.timeout_factor), ExitStack() as opened:
            clients = [opened.enter_context(client_of(each.number)) for each in planned]
            serving = opened.enter_context(running_server(kind, experiment, folder, progress))

            def on_its_bed(each: GeneratorPlan) -> Opened:
                plan = replace(each, wiring=serving.wiring)
                return generator_on(clients[each.number], serving.bed, plan, folder)

            loading, _ = opened.enter_context(_as_one(planned, on_its_bed))
            yield serving, loading
        return
    folder.mkdir(parents=True, exist_ok=True)
    say = progress.say
    with timeout_factor(experiment.timeout_factor), ExitStack() as opened:

        def agent_of(host: str) -> Host:
            say(f"host {host}: connecting")
            channel = _channel(host, experiment.hosts[host])
            return opened.enter_context(
                Host(host, channel, lambda what: say(f"host {host}: {what}"))
            )

        with _over_hosts(kind, experiment, folder, agent_of, say) as sides:
            yield sides


@contextmanager
def _over_hosts(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    agent_of: Callable[[str], Host],
    say: Callable[[str], None],
) -> Iterator[tuple[RunningServer, RunningGenerator]]:
    """The generators' beds are made first: the server's side needs their MAC addresses."""
    assert experiment.bed is not None
    server = experiment.bed.server
    pages = 0 if kind.kernel_stack else hugepages.USUAL_COUNT
    plan = server_plan(kind, experiment, pages, experiment.server_interfaces)
    wiring = kind.wiring_for(plan.settings)

    def on_its_host(each: GeneratorPlan) -> Opened:
        own = replace(each, wiring=wiring)
        if not each.host:
            return local_generator(own, folder, say)
        return remote_generator(agent_of(each.host), own, folder)

    planned = generators_of(experiment)
    with _as_one(planned, on_its_host) as (loading, members):
        macs = [member.neighbours()[0] for member in members[1:]]
        plan = replace(
            plan,
            neighbours=tuple(loading.neighbours()),
            gateways=with_macs(plan.gateways, macs),
        )
        cpus = next((each.cpus for each in planned if not each.host), ())
        if server is None:
            yield ExternalDevice(kind, plan, cpus), loading
            return
        if server.host is None:
            with local_server(kind, plan, folder, say) as local:
                yield local, loading
            return
        plan = replace(plan, host=server.host)
        with remote_server(agent_of(server.host), kind, plan, folder, cpus) as remote:
            yield remote, loading


@contextmanager
def _as_one(
    planned: list[GeneratorPlan], make: Callable[[GeneratorPlan], Opened]
) -> Iterator[tuple[RunningGenerator, list[RunningGenerator]]]:
    """The generators as one, and each of them."""
    with ExitStack() as opened:
        sides = [opened.enter_context(make(each)) for each in planned]
        if len(sides) == 1:
            yield sides[0], sides
            return
        members = [
            Member(each.words, each.part, each.clients, side)
            for each, side in zip(planned, sides, strict=True)
        ]
        with closing(GeneratorGroup(members)) as group:
            yield group, sides


def lacking_there(systems: Iterable[Variant]) -> dict[str, str]:
    """By name of each system that the host of its server cannot measure: why not.

    Each other host is asked once; StackcostError if it cannot be, or if this machine lacks cores
    that an experiment names.
    """
    lacking: dict[str, str] = {}
    with ExitStack() as opened:
        agents: dict[str, Agent] = {}
        for system in systems:
            experiment = system.experiment
            if experiment.bed is None:
                cores = experiment.cores
                check_cpus(Cpus(tuple(cores.load), tuple(cores.server)), cores.shared)
            if (name := experiment.server_host) is None:
                continue
            if name not in agents:
                opened.enter_context(timeout_factor(experiment.timeout_factor))
                agents[name] = opened.enter_context(_agent(name, experiment.hosts[name]))
            if why := agents[name].lacks(
                system.server,
                experiment.server.stack,
                tier_of(experiment.server.tuning),
                len(experiment.cores.server),
                list(experiment.server_interfaces),
            ):
                lacking[system.name] = f"host {name}: {why}"
    return lacking


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
    parts = [(each.host or None, each.interfaces, each.cpus) for each in generators_of(experiment)]
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
            timeout_factor(experiment.timeout_factor),
            _agent(host, experiment.hosts[host]) as agent,
        ):
            return agent.examine(list(interfaces), list(cores))
    except StackcostError as error:
        return [str(error)]


def prepare_hosts(experiment: Experiment, wheel: Path, say: Callable[[str], None]) -> bool:
    """Install a wheel on each other host; returns whether the doctor of each found all.

    StackcostError when one cannot be prepared.
    """
    with needing_extra("other hosts need", "hosts"), timeout_factor(experiment.timeout_factor):
        from stackcost.hosts.prepare import prepare

        return all([prepare(name, each, wheel, say) for name, each in experiment.hosts.items()])


@contextmanager
def _agent(name: str, host: SshHost) -> Iterator[Agent]:
    """The agent of a host, to be asked."""
    with Host(name, _channel(name, host), lambda _: None) as opened:
        yield opened.remote(Agent)


def _channel(name: str, host: SshHost) -> Channel:
    """An agent that is started by SSH."""
    with needing_extra("other hosts need", "hosts"):
        from stackcost.hosts.ssh import SshChannel

        return SshChannel(name, host)
