"""A server that answers some of its connections and holds the rest: no client reports the rest."""

import sys
from pathlib import Path

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.bed.lock import RunLock
from stackcost.contracts.load import HttpClients
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.host.signals import ending_signals_raise
from stackcost.runs.loads.http import run_http_trial
from stackcost.servers.program import HttpProgram
from stackcost.session.http_session import open_http_session
from stackcost.session.progress import Progress
from tests.analysis.http_trials import asked

PLAN = """
title: "one test"
servers: [nginx/kernel]
rounds: 1
cores: auto
workload: {clients: 16.0.0.1-16.0.0.4, server: 48.0.0.1, port: 80}
http:
  program: wrk
  processes: 1
  connections: 40
  warm_up_s: 0.5
  sustain_s: 1.5
  tests: [{name: only, measures: requests, body_bytes: 100}]
"""
SCRIPT = """
import asyncio, sys
HEAD = f"HTTP/1.1 200 OK\\r\\nContent-Length: {sys.argv[3]}\\r\\n\\r\\n".encode()
BODY = b"x" * int(sys.argv[3])
ANSWERED, answering = 10, set()

class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        # wrk first opens and closes a connection to see that it can: it sends nothing.
        if len(answering) < ANSWERED:
            answering.add(self)
        if self in answering:
            self.transport.write((HEAD + BODY) * data.count(b"\\r\\n\\r\\n"))

    def connection_lost(self, error):
        answering.discard(self)

async def serve():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, sys.argv[1], int(sys.argv[2]), backlog=500)
    await server.serve_forever()

asyncio.run(serve())
"""


class AnswersTen(HttpProgram):
    name = "answers-ten"

    def command(self) -> list[str]:
        where = self.endpoint
        return [sys.executable, "server.py", where.address, str(where.port), str(self.body_bytes)]

    def write_files(self) -> None:
        (self.endpoint.folder / "server.py").write_text(SCRIPT)


def test_a_trial_says_how_many_connections_were_never_answered() -> None:
    trial = asked("wrk", 200, "only", 0.0, 18_992.0)
    assert isinstance(trial.load, HttpClients)
    for answered, flagged in ((10, True), (200, False), (None, False)):
        trial.load.answered = answered
        told = "190 of 200 connections were not answered once"
        assert (told in flags_of(Readings(trial, (1,)))) == flagged


@pytest.mark.bed
def test_wrk_does_not_tell_of_silent_connections_and_its_kernel_does(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    trial = Trial("answers-ten", 0, 1, HttpClients(test="only"))
    with (
        RunLock(),
        ending_signals_raise(),
        open_http_session(
            AnswersTen, read_experiment(plan), tmp_path / "logs", Progress()
        ) as session,
    ):
        run_http_trial(session, trial)
    assert isinstance(trial.load, HttpClients) and trial.load.counted
    assert trial.load.counted.requests > 0 and not trial.load.counted.failed
    assert trial.load.answered == 10
    flags = flags_of(Readings(trial, (1,)))
    assert any(flag.startswith("30 of 40 connections were not answered") for flag in flags)
