"""The two sides of a turn: on this machine together, or the server's on another host."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server
from stackcost.harness.bed import hugepages
from stackcost.harness.bed.local import LocalTestbed, Part
from stackcost.harness.experiment.hosts import SshHost
from stackcost.harness.experiment.schema import Experiment
from stackcost.harness.hosts.examine import examine
from stackcost.harness.hosts.line import Channel, Line
from stackcost.harness.hosts.there import serving_there
from stackcost.harness.serving.side import ServingSide
from stackcost.harness.session.progress import Progress
from stackcost.harness.session.server_session import running_server, serving_plan
from stackcost.host.link import hardware_address
from stackcost.host.patience import patience


@contextmanager
def both_sides(
    kind: type[Server], experiment: Experiment, folder: Path, where: str, progress: Progress
) -> Iterator[tuple[ServingSide, LocalTestbed]]:
    """The serving side with a healthy server, and the bed of the load; all undone on exit.

    `folder` is made for the configuration and logs of all programs.
    """
    if experiment.bed is None:
        with running_server(kind, experiment, folder, where, progress) as serving:
            yield serving, serving.bed
        return
    folder.mkdir(parents=True, exist_ok=True)
    sides, cores, host = experiment.bed, experiment.cores, experiment.bed.server.host

    def say(what: str) -> None:
        progress.say(f"{where}: host {host}: {what}")

    say("connecting")
    with (
        patience(experiment.patience),
        Line(host, _channel(host, experiment.hosts[host]), say) as line,
    ):
        pages = 0 if kind.kernel_stack else hugepages.USUAL_COUNT
        plan = serving_plan(kind, experiment, pages, tuple(sides.server.interfaces))
        part = Part("load", tuple(sides.load.interfaces))
        wiring = kind.wiring_for(plan.settings)
        with LocalTestbed(cores.load, server_cpus=(), wiring=wiring, part=part) as bed:
            plan = replace(plan, neighbours=tuple(map(hardware_address, bed.ends)))
            with serving_there(line, kind, plan, folder, cores.load) as there:
                yield there, bed


def problems_of_hosts(experiment: Experiment) -> dict[str, list[str]]:
    """What is wrong with each host of an experiment's test bed, by name; empty if nothing is.

    StackcostError if its test bed is that of one machine.
    """
    sides, cores = experiment.bed, experiment.cores
    if sides is None:
        raise StackcostError(
            "this experiment has no section bed: its test bed is this machine",
            "to check this machine, run: stackcost doctor",
        )
    name = sides.server.host
    found = {"this machine": examine(sides.load.interfaces, cores.load), name: list[str]()}
    try:
        with Line(name, _channel(name, experiment.hosts[name]), lambda _: None) as line:
            found[name] = line.call(
                "examine", interfaces=sides.server.interfaces, cores=cores.server
            )
    except StackcostError as error:
        found[name] = [str(error)]
    return found


def _channel(name: str, host: SshHost) -> Channel:
    """An agent that is started by SSH. The library for it is an extra of the package."""
    try:
        from stackcost.harness.hosts.ssh import SshChannel
    except ImportError as error:
        raise StackcostError(
            f"other hosts need {error.name}, which is not installed",
            "pip install 'stackcost[hosts]'",
        ) from error
    return SshChannel(name, host)
