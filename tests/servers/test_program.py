"""A user's program with HTTP clients: what length it is asked for, and what is said else."""

from dataclasses import replace
from pathlib import Path

import pytest

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import ServerSettings
from stackcost.experiment.read_file import read_experiment
from stackcost.servers.probe import Response
from stackcost.servers.program import HttpProgram
from stackcost.session.server_settings import server_settings

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
HEADERS = 40


class OneBody(HttpProgram):
    """As the tutorial's: it answers every path with a body of `served` bytes; nothing is run."""

    name = "mine"
    served = -1

    def command(self) -> list[str]:
        return []

    def write_files(self) -> None:
        pass

    def begin(self) -> None:
        self.starts = getattr(self, "starts", 0) + 1

    def length(self, path: str) -> int:
        return self.body_bytes if self.served < 0 else self.served

    def _ask(self, request: bytes = b"") -> Response:
        path = (request or self.settings.request).split()[1].decode()
        body = bytes(self.length(path))
        return Response(200, HEADERS + len(body), body)


class EachPath(OneBody):
    def length(self, path: str) -> int:
        return self.settings.files[path]


def clients(*lengths: int) -> ServerSettings:
    """Of an experiment with `http`, whose tests ask for bodies of these lengths."""
    experiment = read_experiment(EXPERIMENTS / "tls.yaml")
    http = experiment.http
    assert http
    tests = [http.tests[0].model_copy(update={"body_bytes": list(lengths)})]
    changed = experiment.model_copy(update={"http": http.model_copy(update={"tests": tests})})
    return server_settings(changed, OneBody)


@pytest.mark.parametrize("length", [0, 5, 1000, 100_000])
def test_with_one_length_a_program_of_one_body_serves_it(endpoint: Endpoint, length: int) -> None:
    server = OneBody(endpoint, replace(clients(length), response_bytes=10))
    server.start()
    assert server.body_bytes == length and server.starts == 1


def test_a_program_that_serves_each_path_is_taken_with_several(endpoint: Endpoint) -> None:
    server = EachPath(endpoint, clients(1000, 0, 100_000))
    server.start()
    server.check_health()


def test_a_program_of_one_body_is_told_what_several_need(endpoint: Endpoint) -> None:
    with pytest.raises(StackcostError, match="mine sent a body of 1000 bytes instead of 3000") as e:
        OneBody(endpoint, clients(1000, 3000)).start()
    assert "self.settings.files" in e.value.hint and "the same body_bytes" in e.value.hint
    assert "response_bytes" not in f"{e.value.what} {e.value.hint}"


def test_a_program_with_a_body_of_its_own_is_told_the_length(endpoint: Endpoint) -> None:
    server = OneBody(endpoint, clients(1000))
    server.served = 7
    with pytest.raises(StackcostError, match="a body of 7 bytes instead of 1000") as caught:
        server.start()
    assert "self.body_bytes" in caught.value.hint
    assert "response_bytes" not in f"{caught.value.what} {caught.value.hint}"
