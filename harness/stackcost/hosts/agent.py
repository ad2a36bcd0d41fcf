"""The agent of a host: one side of a test bed, driven by a controller on another host.

The controller starts it by SSH, and speaks to it over its standard input and output as
`stackcost.hosts.wire` says. When the input ends, or the controller is silent for too long,
the agent undoes everything and ends. So a killed controller or a cut line leaves nothing behind.
"""

import json
import os
import select
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from stackcost.bed.agent_folder import agent_folder
from stackcost.bed.lock import RunLock
from stackcost.collect.cpu_account import Detail
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.tuning import Tier
from stackcost.experiment.matrix import lacks
from stackcost.hosts.examine import examine
from stackcost.hosts.version import suite_version
from stackcost.hosts.wire import (
    SILENCE_LIMIT_S,
    decode_arguments,
    pack_error,
    unpack_profile,
)
from stackcost.loading.here import loading_here
from stackcost.loading.plan import LoadingPlan
from stackcost.loading.side import LoadingSide
from stackcost.serving.here import serving_here
from stackcost.serving.plan import ServingPlan
from stackcost.serving.side import Sampling, ServingSide
from stackcost.systems.registry import server_class

LOG_BYTES = 1 << 20  # of the end of each log
# Requests for the main thread: it alone gets signals, and programs end with the thread that has
# started them.
MAIN = ("open", "open_loading", "begin", "close")
LOGS = ("*.log", "*.conf", "*.yaml")


class Agent:
    """One side, and the sampler of a serving side.

    Public methods are requests, as are those of the side. Where a method has the name of one of the
    side, the controller sends something else in its place.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]):
        self._folder = folder
        self._say = say
        self._exit = ExitStack()
        self._side: ServingSide | None = None
        self._loading: LoadingSide | None = None
        self._sampling: Sampling | None = None
        self._taken = 0
        self._kept: list[Any] = []  # read, and not asked for yet

    def _method(self, name: str) -> Callable[..., Any]:
        """The method of a request; StackcostError if there is none."""
        owners = (self, Agent), (self._side, ServingSide), (self._loading, LoadingSide)
        for owner, kind in owners:
            if owner is not None and not name.startswith("_") and name in vars(kind):
                found: Callable[..., Any] = getattr(owner, name)
                return found
        raise StackcostError(f"the agent has no method {name} now")

    def open(self, server: str, plan: dict[str, Any], profile: dict[str, str]) -> dict[str, Any]:
        """Make the bed and start the server; returns what the controller cannot know."""
        self._exit.enter_context(RunLock())
        path = unpack_profile(profile, self._folder / "profiles")
        plan["settings"]["profile"] = str(path)
        wanted = TypeAdapter(ServingPlan).validate_python(plan)
        self._side = self._exit.enter_context(
            serving_here(server_class(server), wanted, self._folder, self._say)
        )
        return {"ip_version": self._side.ip_version, "machine": describe_machine()}

    def open_loading(self, plan: LoadingPlan) -> dict[str, Any]:
        """Make the bed of a generator, which `begin` starts; returns what the controller shows."""
        self._exit.enter_context(RunLock())
        self._loading = self._exit.enter_context(loading_here(plan, self._folder, self._say))
        return {"machine": describe_machine()}

    def load_profile(self, path: dict[str, str], tunables: dict[str, Any], profile: str) -> None:
        """As the side does; the profile comes from the controller."""
        assert self._loading is not None
        found = unpack_profile(path, self._folder / "profiles")
        self._loading.load_profile(found, tunables, profile)

    def examine(self, interfaces: list[str], cores: list[int]) -> list[str]:
        """What is wrong with this host, in words; nothing is changed."""
        return examine(interfaces, cores)

    def lacks(self, server: str, stack: str, tier: Tier, cores: int, interfaces: list[str]) -> str:
        """Why this host cannot measure a server with these settings; empty if it can."""
        return lacks(server, stack, tier, cores, interfaces)

    def serve(self, profile: dict[str, str], tunables: dict[str, Any]) -> None:
        """As the side does; the profile comes from the controller."""
        assert self._side is not None
        self._side.serve(unpack_profile(profile, self._folder / "profiles"), tunables)

    def start_sampling(self, detail: Detail) -> None:
        """Read everything of this side periodically from now on."""
        assert self._side is not None
        self._sampling = self._exit.enter_context(self._side.sampling([], detail))

    def read_now(self) -> list[Any]:
        """Read everything now and return it, and nothing else: an edge has to be read quickly."""
        assert self._sampling is not None
        read = self._sampling.read_now()
        now = {id(sample) for sample in read}
        self._kept = [each for each in self.take() if id(each) not in now]
        return read

    def take(self) -> list[Any]:
        """What was read since the last request, edges excepted."""
        assert self._sampling is not None
        found = self._sampling.samples[self._taken :]
        self._taken += len(found)
        found, self._kept = self._kept + found, []
        return found

    def read_often(self, names: list[str], interval_s: float | None) -> None:
        """Also read these collectors at this interval; None: never."""
        assert self._sampling is not None
        self._sampling.read_often(names, float("inf") if interval_s is None else interval_s)

    def divide(self, on: bool) -> None:
        """Begin or end what the collectors read for a part of a trial only."""
        assert self._sampling is not None
        self._sampling.divide(on)

    def clock(self) -> float:
        """Seconds of this host's CLOCK_MONOTONIC."""
        return time.monotonic()

    def close(self) -> dict[str, str]:
        """Undo everything; returns logs and configurations by path."""
        self._side = self._loading = self._sampling = None
        self._exit.close()
        return {
            str(path.relative_to(self._folder)): path.read_bytes()[-LOG_BYTES:].decode(
                errors="replace"
            )
            for pattern in LOGS
            for path in sorted(self._folder.rglob(pattern))
        }


def run(requests: IO[bytes], replies: IO[str]) -> None:
    """Answer requests until there are no more; then undo what they have made."""
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        line = json.dumps(message) + "\n"
        try:
            with lock:
                replies.write(line)
                replies.flush()
        except OSError:
            return  # the line is cut; the end of the input says so too

    folder = agent_folder()
    agent = Agent(folder, lambda what: send({"say": what}))

    def answer(request: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"number": request["number"]}
        try:
            method = agent._method(request["method"])
            result = method(**decode_arguments(method, request["arguments"]))
            reply["result"] = to_jsonable_python(result)
        except Exception as error:
            reply["error"] = pack_error(error)
        send(reply)

    send({"version": suite_version()})
    try:
        for line in _lines(requests):
            request = json.loads(line)
            if request["method"] in MAIN:
                answer(request)
            else:  # the load is driven while the sampler reads
                threading.Thread(target=answer, args=(request,), daemon=True).start()
    finally:
        agent.close()
        shutil.rmtree(folder, ignore_errors=True)


def _lines(requests: IO[bytes]) -> Iterator[bytes]:
    """Lines that are not empty, until the input ends or nothing comes for too long."""
    received, descriptor = b"", requests.fileno()
    while select.select([descriptor], [], [], SILENCE_LIMIT_S)[0]:
        data = os.read(descriptor, 1 << 16)
        if not data:
            return
        *whole, received = (received + data).split(b"\n")
        yield from filter(bytes.strip, whole)


def main() -> None:
    """It needs root. What programs print goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    status = 0
    try:
        run(sys.stdin.buffer, replies)
    except KeyboardInterrupt:
        status = 130
    os._exit(status)  # threads that wait for a silent server would hold it up


if __name__ == "__main__":
    main()
