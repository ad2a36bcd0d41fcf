"""Whether the last, small segment of a response waits for an ACK: by profile and by server."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from scapy.all import TCP, Ether

from stackcost.bed.lock import RunLock
from stackcost.collect.latency import read_latency
from stackcost.experiment.read_file import read_experiment
from stackcost.host.signals import ending_signals_raise
from stackcost.host.waiting import wait_until
from stackcost.runs.loads.constant import prepare_load
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession, open_profile_session
from stackcost.session.progress import Progress

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"
# Three segments of 1,448 bytes and a small one. A window of 2 lets the third out alone, so that the
# client, which acknowledges every second one, still owes its ACK when only the small one is left.
RESPONSE_BYTES = 3 * 1448 + 100
SLOW_US = 50_000  # a delayed ACK comes after 100 ms
CPS, SECONDS = 50, 2


@contextmanager
def loaded(server: str, tcp: str, folder: Path) -> Iterator[ProfileSession]:
    """A session in which the load's profile is loaded, with these settings of TCP."""
    experiment = read_experiment(COMPARE, quick=True).offering([CPS])
    workload = experiment.workload.model_copy(update={"response_bytes": RESPONSE_BYTES, "tcp": tcp})
    experiment = experiment.model_copy(update={"workload": workload})
    kind = server_class(server)
    with (
        RunLock(),
        ending_signals_raise(),
        open_profile_session(kind, experiment, folder / "logs", Progress()) as session,
    ):
        prepare_load(session)
        yield session


def slow_of_all(session: ProfileSession) -> tuple[int, int]:
    """Connections that took longer than 50 ms, and all."""
    session.generator.start(mult=CPS, duration=SECONDS)
    assert wait_until(lambda: not session.generator.is_traffic_active(), 30)
    histograms = read_latency(session.generator)
    assert histograms is not None
    whole = histograms[""]["completion"]
    counts = [
        (step.value_iterated_to, step.count_added_in_this_iter_step)
        for step in whole.get_recorded_iterator()
    ]
    return sum(count for value, count in counts if value > SLOW_US), whole.get_total_count()


def captured(session: ProfileSession) -> list[tuple[float, Any]]:
    """Time and TCP part of every frame of some connections at the generator's port."""
    call = session.generator.call
    request = {
        "command": "start",
        "limit": 2000,
        "mode": "fixed",
        "tx": [0],
        "rx": [0],
        "filter": "tcp",
    }
    number = call("capture", request)["capture_id"]
    slow_of_all(session)
    call("capture", {"command": "stop", "capture_id": number})
    frames, pending = [], 1
    while pending:
        part = call("capture", {"command": "fetch", "capture_id": number, "pkt_limit": 50})
        pending = part["pending"]
        frames += [
            (each["ts"], Ether(base64.b64decode(each["binary"]))[TCP]) for each in part["pkts"]
        ]
    call("capture", {"command": "remove", "capture_id": number})
    return frames


@pytest.mark.bed
@pytest.mark.long
def test_as_published_the_peers_last_segment_waits_for_the_delayed_ack(tmp_path: Path) -> None:
    with loaded("astf-peer", "published", tmp_path) as session:
        slow, whole = slow_of_all(session)
        frames = captured(session)
    assert whole > CPS and slow == whole, "each of them waits"
    flows: dict[int, list[tuple[float, Any]]] = {}
    for at, tcp in frames:
        flows.setdefault(tcp.sport if tcp.dport == 80 else tcp.dport, []).append((at, tcp))
    seen, delays, rests = 0, [], []
    for exchange in flows.values():
        sent = [(at, len(tcp.payload)) for at, tcp in exchange if tcp.sport == 80 and tcp.payload]
        if [length for _, length in sent] != [1448, 1448, 1448, 100]:
            continue  # cut by the capture's limit
        seen += 1
        (third, _), (last, _) = sent[2:]
        acks = [at for at, tcp in exchange if tcp.dport == 80 and third < at < last]
        assert len(acks) == 1, "between them the client sends the ACK alone"
        assert acks[0] - third > 0.08, "which it has delayed"
        delays.append(acks[0] - third)
        rests.append(last - acks[0])
    assert seen > 20
    # A busy machine makes single frames late, so the middle one of all.
    assert median(delays) < 0.3
    assert median(rests) < median(delays) / 2, "the small segment leaves when the ACK has come"


@pytest.mark.bed
@pytest.mark.parametrize(
    ("server", "tcp"),
    [
        ("astf-peer", "today"),
        pytest.param("nginx/kernel", "today", marks=pytest.mark.long),
        pytest.param("nginx/kernel", "published", marks=pytest.mark.long),
    ],
)
def test_otherwise_no_segment_waits(server: str, tcp: str, tmp_path: Path) -> None:
    """Where segments wait all connections are slow; on a busy machine some, and it is repeated."""
    with loaded(server, tcp, tmp_path) as session:
        for _attempt in range(3):
            slow, whole = slow_of_all(session)
            if slow < 0.1 * whole:
                break
            prepare_load(session)
    assert whole > CPS and slow < 0.1 * whole, f"{slow} of {whole}"
