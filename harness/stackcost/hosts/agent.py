"""The agent of a host: a server or a generator, driven by a controller on another host.

The controller starts it by SSH, and calls it over its standard input and output
(`stackcost.remote`). When the input ends, or the controller is silent for too long, the agent
undoes everything and ends. So a killed controller or a cut line leaves nothing behind.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any

from pydantic_core import to_jsonable_python

from stackcost.bed.interfaces import check_free
from stackcost.bed.leftovers import agent_folder
from stackcost.bed.local import check_root
from stackcost.bed.lock import RunLock
from stackcost.collect.machine import describe_machine
from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.tuning import Tier
from stackcost.experiment.matrix import lacks
from stackcost.host.cores import allowed_cores
from stackcost.host.garbage import no_garbage_collection
from stackcost.hosts.host import suite_version
from stackcost.hosts.host_sampler import HostSampler
from stackcost.remote.answering import Replies, serve
from stackcost.remote.stub import called
from stackcost.remote.types import decode_arguments
from stackcost.servers.registry import server_class
from stackcost.sides.generator import RunningGenerator, local_generator
from stackcost.sides.plans import GeneratorPlan, ServerPlan
from stackcost.sides.server import START_LIMIT_S, RunningServer, local_server


def examine(interfaces: Collection[str], cores: Collection[int]) -> list[str]:
    """What is wrong with this host as a side of a test bed, in words; empty if nothing is.

    `interfaces`, `cores`: those that the experiment names.
    """
    checks = [check_root, _check_lock, *(lambda name=name: check_free(name) for name in interfaces)]
    return [str(error) for check in checks if (error := _error_of(check))] + _missing(cores)


def _missing(cores: Collection[int]) -> list[str]:
    there = allowed_cores()
    missing = sorted({*cores} - {*there})
    return [f"cores {missing} do not exist; it has cores {there}"] if missing else []


def _check_lock() -> None:
    with RunLock():
        pass


def _error_of(check: Callable[[], None]) -> StackcostError | None:
    try:
        check()
    except StackcostError as error:
        return error
    return None


SILENCE_LIMIT_S = 30.0  # after which the controller counts as dead
LOG_BYTES = 1 << 20  # of the end of each log
LOGS = ("*.log", "*.conf", "*.yaml")


class Agent:
    """Makes a server or a generator. `objects`: what can be called now, by its class."""

    def __init__(self, folder: Path, say: Callable[[str], None]):
        self._folder = folder
        self._say = say
        self._exit = ExitStack()
        self.objects: dict[type, object] = {Agent: self}

    @called(limit_s=START_LIMIT_S, in_turn=True)
    def open_server(self, server: str, plan: ServerPlan) -> IpVersion:
        """Make the bed and start the server; returns the IP version of its clients."""
        self._exit.enter_context(RunLock())
        kind, host = server_class(server), _described(plan.host)
        made = local_server(kind, plan, self._folder, self._say, host)
        running = self._exit.enter_context(made)
        self.objects[RunningServer] = running
        self.objects[HostSampler] = HostSampler(running, self._exit)
        return running.ip_version

    @called(limit_s=START_LIMIT_S, in_turn=True)
    def open_generator(self, plan: GeneratorPlan) -> None:
        """Make the bed of a generator, which its `begin` starts."""
        self._exit.enter_context(RunLock())
        made = local_generator(plan, self._folder, self._say, _described(plan.host))
        self.objects[RunningGenerator] = self._exit.enter_context(made)

    def examine(self, interfaces: list[str], cores: list[int]) -> list[str]:
        """What is wrong with this host, in words; nothing is changed."""
        return examine(interfaces, cores)

    def lacks(self, server: str, stack: str, tier: Tier, cores: int, interfaces: list[str]) -> str:
        """Why this host cannot measure a server with these settings; empty if it can."""
        return lacks(server_class(server), stack, tier, cores, interfaces)

    def clock(self) -> float:
        """Seconds of this host's CLOCK_MONOTONIC."""
        return time.monotonic()

    @called(in_turn=True)
    def close(self) -> dict[str, str]:
        """Undo everything; returns logs and configurations by path."""
        self.objects = {Agent: self}
        self._exit.close()
        return {
            str(path.relative_to(self._folder)): path.read_bytes()[-LOG_BYTES:].decode(
                errors="replace"
            )
            for pattern in LOGS
            for path in sorted(self._folder.rglob(pattern))
        }


def _described(host: str) -> dict[str, Any]:
    """This host for the manifest. `host`: its name in the experiment."""
    return {host: {"machine": describe_machine()}}


def run(requests: IO[bytes], output: IO[bytes]) -> None:
    """Answer calls until there are no more; then undo what they have made."""
    folder, replies = agent_folder(), Replies(output)
    agent = Agent(folder, lambda what: replies.send(say=what))
    try:
        serve(
            lambda: agent.objects,
            requests,
            replies,
            version=suite_version(),
            decode=partial(decode_arguments, folder=folder / "profiles"),
            encode=to_jsonable_python,
            silence_s=SILENCE_LIMIT_S,
        )
    finally:
        agent.close()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Serve calls until the input ends; needs root. What programs print goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    status = 0
    try:
        with no_garbage_collection():  # an agent ends with its session
            run(sys.stdin.buffer, replies)
    except KeyboardInterrupt:
        status = 130
    os._exit(status)  # threads that wait for a silent server would hold it up


if __name__ == "__main__":
    main()
