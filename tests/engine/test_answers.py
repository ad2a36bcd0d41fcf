"""The time that a server takes to answer frames, as the benchmark reads it from a veth."""

from contextlib import ExitStack
from types import ModuleType
from typing import Any

import pytest

from stackcost.bed.local import LocalTestbed
from tests.trex.conftest import REPOSITORY

pytestmark = [pytest.mark.bed, pytest.mark.long]

ADDED_S = 0.05  # much more than the quickest answer takes on a busy machine
RATE, SECONDS = 200, 2


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(REPOSITORY / "engine" / "bench")
    import answers

    return answers


def test_a_delay_that_is_known_is_in_every_answer(row: ModuleType) -> None:
    with LocalTestbed() as bed, ExitStack() as stack:
        server, client = (stack.enter_context(row.driven(*end)) for end in row.ends_of(bed))
        with row.serving(server, row.PROFILE, row.TUNABLES):
            plain = delays(row, bed, client)
            asked = {"port_id": 1, "direction": "transmit"}
            settings = {"delay_us": round(ADDED_S * 1e6)}
            server.client.call("stackcost_set_impairment", asked | {"settings": settings})
            delayed = delays(row, bed, client)
    connections = RATE * SECONDS * row.WATCHED.num_addresses / 200
    for seen in (plain, delayed):
        assert len(seen) > 1.5 * connections, "each has a handshake and a request"
    # A busy machine makes answers later, never earlier: the quickest ones tell what was added.
    assert min(plain) < ADDED_S <= min(delayed) < ADDED_S + max(ADDED_S, min(plain))


def delays(row: ModuleType, bed: LocalTestbed, client: Any) -> list[float]:
    row.load(client, row.PROFILE, row.TUNABLES)
    return list(row.answer_times(bed, client, RATE, SECONDS))
