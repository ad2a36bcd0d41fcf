"""One trial of HTTP clients: they run at once, and everything is read while they run."""

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from stackcost.analysis.ceiling.ramp import rising
from stackcost.analysis.cost.http import p99_us
from stackcost.clients import Clients, LoadRequest, program
from stackcost.clients.clients import counts_of, latency_of
from stackcost.clients.program import LoadResult
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import HttpSettings
from stackcost.contracts.load import HttpClients
from stackcost.contracts.stack import KERNEL
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.experiment.http_schema import Concurrency, HttpLoad, HttpTest, path_of
from stackcost.experiment.matrix import Variant
from stackcost.experiment.schema import Experiment
from stackcost.host.namespace import execute
from stackcost.host.not_running import NotRunning
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.reading import reading_server
from stackcost.runs.turn import FIGURE, PlannedTrial, PlannedTrials, Purpose
from stackcost.session.http_session import HttpSession, open_http_session
from stackcost.session.server_settings import RESUMPTION_PORT, TLS_PORT


def find_concurrency(
    limit: Concurrency, holds: Callable[[int], PlannedTrials[bool]]
) -> PlannedTrials[int]:
    """The highest number of connections for which `holds` returns True; 1 if there is none.

    The number is doubled from the first one while `holds` is true, or else halved until it is.

    `holds`: makes a trial with this number of connections; returns whether its 99th percentile was
    below the limit and no request failed.
    """
    held, failed = 0, 0
    for count in rising(limit.first, 2, limit.most):
        if not (yield from holds(count)):
            failed = count
            break
        held = count
    if not failed:
        return held
    count = failed
    while not held:
        count //= 2
        if count <= 1:
            return 1
        if (yield from holds(count)):
            held = count
        else:
            failed = count
    for _ in range(limit.steps):
        middle = round(math.sqrt(held * failed))
        if middle in (held, failed):
            break
        if (yield from holds(middle)):
            held = middle
        else:
            failed = middle
    return held


EXTRA_S = 0.3  # of a trial, measured on a machine with two cores; for the remaining time only
FOR_CONCURRENCY = Purpose(set_aside="a trial of the search for the concurrency")


class Http(LoadKind[HttpSession, HttpClients]):
    """The section `http` of an experiment: each test, at each of its rates or as a closed loop."""

    open = staticmethod(open_http_session)
    setup_s = 1.0  # there is no generator of ASTF profiles to start

    def __init__(self, experiment: Experiment):
        self._http = experiment.http

    def loads(self, variant: Variant) -> list[HttpClients]:
        """One for each test that the system can serve, or for each of its rates."""
        return [
            HttpClients(test=test.name, offered_rps=rate)
            for test in (self._http.tests if self._http else ())
            if test.name not in variant.lacking_tests
            for rate in test.rates or (None,)
        ]

    def seconds(self, load: HttpClients) -> float:
        """With the search for the concurrency before it."""
        assert self._http is not None, "without the section there are no such loads"
        return self._trial_s(self._http, self._http.sustain_s) + self._search_s(self._http)

    def words(self, load: HttpClients) -> str:
        """The test, and its rate."""
        return load.test + (f" at {load.rate:,.0f} requests/s" if load.rate else "")

    def offer(self, session: HttpSession, trial: Trial) -> None:
        """With the connections of the plan."""
        run_http_trial(session, trial)

    def steps(self, session: HttpSession, trial: Trial, load: HttpClients) -> PlannedTrials[None]:
        """Before the trial the search for its concurrency, if that is not given."""
        http, connections = session.http, None
        if http.concurrency:
            with session.progress.search(self._search_s(http)):
                connections = yield from self._connections(session, trial, load)
        yield PlannedTrial(
            trial=trial,
            make=partial(run_http_trial, session, connections=connections),
            words=self.words(load),
            purpose=FIGURE,
            seconds=self._trial_s(http, http.sustain_s),
        )

    @staticmethod
    def _trial_s(http: HttpLoad, sustain_s: float) -> float:
        return http.clients_run_s(sustain_s) + EXTRA_S

    def _search_s(self, http: HttpLoad) -> float:
        """Estimated duration of the search for the concurrency; 0 if it is given."""
        search = http.concurrency
        if search is None:
            return 0.0
        doublings = max(1, (search.most // search.first).bit_length())
        return doublings * self._trial_s(http, search.trial_s)

    def _connections(
        self, session: HttpSession, planned: Trial, load: HttpClients
    ) -> PlannedTrials[int]:
        """Find the connections of each client process. Its trials are stored but not in figures."""
        http, limit = session.http, session.http.concurrency
        assert limit is not None

        def each(count: int) -> int:
            return max(1, count // http.processes)

        def holds(count: int) -> PlannedTrials[bool]:
            (trial,) = yield PlannedTrial(
                trial=planned,
                make=partial(
                    run_http_trial, session, connections=each(count), sustain_s=limit.trial_s
                ),
                words=f"{load.test}: search for the concurrency, {count:,} connections",
                purpose=FOR_CONCURRENCY,
                seconds=self._trial_s(http, limit.trial_s),
            )
            p99 = p99_us(trial)
            return p99 is not None and p99 < limit.p99_below_ms * 1000 and not trial.traffic.failed

        return each((yield from find_concurrency(limit, holds)))


def run_http_trial(
    session: HttpSession,
    trial: Trial,
    connections: int | None = None,
    sustain_s: float | None = None,
) -> None:
    """Make the test that its `HttpClients` names, and fill the trial in as it goes.

    `connections` of each process, and `sustain_s`: in place of the plan's.

    The clients are never told to stop: each ends by itself when its time is over, which is after
    the sustain window's last edge.
    """
    http, load = session.http, trial.load_of(HttpClients)
    test = http.test(load.test)
    connections = connections or http.connections_of(test)
    sustain_s = sustain_s or http.sustain_s
    requests = load_requests(session, test, load.offered_rps, connections, sustain_s)
    load.settings = HttpSettings(
        program=http.program_of(test),
        processes=http.processes,
        connections=connections,
        body_bytes=test.body_bytes,
        kept=test.kept,
        tls=test.tls,
        measures=test.measures,
        cores_shared=bool(session.experiment.cores.common),
        version=test.version,
        streams=test.streams,
        resumed=test.resumed,
        beside=test.beside,
    )
    folder = Path(session.folder, f"trial-{trial.number}")
    used = program(http.program_of(test))
    cpus, namespace = session.bed.cpus.load, session.bed.load_namespace
    served = session.serving.requests_served()
    stack = session.clients_stack
    with reading_server(session, trial, load):
        stack.check_stack("before", {})
        began = session.read_edge()  # the clients end at a fixed time, so it is not read in theirs
        with Clients(used, requests, namespace, cpus, session.addresses, folder, stack) as clients:
            load.processes = clients.process_ids
            _sustain(session, trial, load, clients, began, sustain_s)
            told = _results(clients, load)
            own, beside = told[: http.processes], told[http.processes :]
            load.counted = counts_of(own, used.latency, clients.cpu_seconds())
            load.counted_beside = counts_of(beside, used.latency, {}) if beside else None
            load.latency = {"": latency_of(own)}
        now = session.serving.requests_served()
        load.server_requests = None if now is None or served is None else now - served


def _answered(session: HttpSession, test: HttpTest) -> int | None:
    """Connections of the clients that have received something, by their kernel's own count.

    A client that waits longer than a trial lasts reports no failure of a silent connection. None
    for connections that do not stay open, for those that receive a handshake first, and where the
    clients' kernel has no part.
    """
    if not test.kept or test.tls or session.clients_stack.name != KERNEL:
        return None
    command = ["ss", "-Hnti", "state", "established", f"dport = :{_port(session, test)}"]
    told = execute(session.bed.load_namespace, command)
    return len(re.findall(r"\bbytes_received:[1-9]", told))


def load_requests(
    session: HttpSession,
    test: HttpTest,
    rate: float | None,
    connections: int,
    sustain_s: float,
) -> list[LoadRequest]:
    """What each client process does, those beside the test last; a rate is shared out evenly."""
    http, address = session.http, session.experiment.workload.server
    request = LoadRequest(
        url=f"{'https' if test.tls else 'http'}://{address}:{_port(session, test)}",
        paths=tuple(map(path_of, test.body_bytes)),
        connections=connections,
        kept=test.kept,
        seconds=http.clients_run_s(sustain_s),
        warm_up_s=http.warm_up_s,
        rate=None if rate is None else rate / http.processes,
        version=test.version,
        streams=test.streams,
    )
    others = [replace(request, paths=(path_of(length),)) for length in test.beside]
    return [each for each in (request, *others) for _ in range(http.processes)]


def _port(session: HttpSession, test: HttpTest) -> int:
    if test.resumed:
        return RESUMPTION_PORT
    return TLS_PORT if test.tls else session.experiment.workload.port


def _results(clients: Clients, load: HttpClients) -> list[LoadResult]:
    """What the clients say at their end. A client that fell back to the kernel's stack may hang."""
    try:
        return clients.wait()
    except StackcostError as error:
        found = load.stack_check
        if found is None or found.as_wanted:
            raise
        raise StackcostError(f"{error.what}; it was {found.difference}", error.hint) from error


def _sustain(
    session: HttpSession,
    trial: Trial,
    load: HttpClients,
    clients: Clients,
    began: float,
    sustain_s: float,
) -> None:
    """Read at both edges of the sustain window, all clients going. `began`: the edge before it."""
    http = session.http
    session.warm_up(time.monotonic() + http.warm_up_s)
    if session.clients_stack.name != KERNEL:
        session.bed.steer()  # it took its interface when the clients started
    first = session.read_edge()
    trial.phases["warm-up"] = Window(began, first)
    session.check_stack("during")
    processes = {f"client-{at}": pid for at, pid in enumerate(clients.process_ids)}
    session.clients_stack.check_stack("during", processes)
    # Looks at Onload take seconds on a slow host, and the clients end at a fixed time.
    watched = NotRunning(clients.process_ids)
    watched.watch_until(first + sustain_s)
    load.stopped_s, load.waited_s = watched.stopped_s, watched.waited_s
    last = session.read_edge()
    answered = _answered(session, http.test(load.test))
    load.ended_early = not clients.all_run()
    load.answered = None if load.ended_early else answered  # its sockets end with a client
    session.clients_stack.check_stack("after", processes)  # a stack ends with its client
    load.stack_check = session.clients_stack.stack_check()
    load.limits = session.serving.limits(_port(session, http.test(load.test)))
    trial.phases["sustain"] = Window(first, last)
    if session.experiment.cores.common:
        load.others = session.bed.programs()
