"""What servers tell of themselves: answers that are errors of the right length, nginx's counts."""

import itertools

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import failures_of
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad
from stackcost.servers.nginx_status import Status, parse_status
from stackcost.servers.probe import Response, statuses
from tests.analysis.trials import load_trial


def told(found: dict[str, int] | None) -> list[str]:
    trial = load_trial()
    trial.load_of(ConstantLoad).statuses = found
    return [each for each in failures_of(Readings(trial)) if "status" in each]


def test_every_tenth_answer_that_is_an_error_is_in_the_sample_and_told() -> None:
    """Every tenth was a 503 of the same length, and nothing said so."""
    numbers = itertools.count(1)

    def asked() -> Response:
        return Response(200 if next(numbers) % 10 else 503, 1000, b"")

    found = statuses(asked)
    assert found == {"200": 18, "503": 2}
    assert told(found) == [
        "2 of 20 requests made after the load had no answer of status 200: 503 (2)"
    ]


def test_a_server_that_answers_no_more_is_asked_once() -> None:
    def asked() -> Response:
        raise StackcostError("no HTTP answer")

    assert statuses(asked) == {"none": 1}
    assert told({"none": 1})[0].endswith("status 200: none (1)")


@pytest.mark.parametrize("found", [None, {}, {"200": 20}, {"204": 20}])
def test_good_answers_and_servers_that_nothing_can_ask_are_no_doubt(
    found: dict[str, int] | None,
) -> None:
    assert told(found) == []


TEXT = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    "Active connections: 3 \nserver accepts handled requests\n 17 16 45 \n"
    "Reading: 0 Writing: 1 Waiting: 2 \n"
)


def test_counts_are_read_in_their_order() -> None:
    assert parse_status(TEXT) == Status(accepted=17, handled=16, requests=45, active=3)


@pytest.mark.parametrize("text", ["", "HTTP/1.1 404 Not Found\r\n\r\n"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a status page of nginx"):
        parse_status(text)
