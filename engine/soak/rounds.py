"""One round of a soak: traffic drawn at random, over networks drawn at random, ended somehow."""

import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.soak.bed import Bed, End
from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until

MIXED = Path(__file__).with_name("profile.py")
HOLD = Path(__file__).resolve().parents[2] / "trex_profiles" / "http_hold.py"
NO_CLIENTS = 0
TIMEOUT_S = 120.0  # a busy machine, connections that retransmit
SETTLE_S = 20.0

COUNTERS = (
    "tcps_connattempt",
    "tcps_connects",
    "tcps_closed",
    "tcps_drops",
    "tcps_conndrops",
    "tcps_testdrops",
    "tcps_sndrexmitpack",
    "tcps_rcvoopack",
    "tcps_rcvbyte",
    "udps_connects",
    "udps_keepdrops",
    "err_c_tuple_err",
    "err_c_nf_throttled",
    "err_s_nf_throttled",
)


@dataclass(frozen=True)
class Round:
    """What is done. `ending`: see `_end`."""

    traffic: str
    profile: Path
    tunables: dict[str, Any]
    held: int  # flows to hold open beside the schedule
    seconds: float
    ending: str


def draw(chance: random.Random, seconds: float) -> Round:
    """Mixed traffic two times of three, else more flows than fit table or ports."""
    traffic = chance.choice(["mixed"] * 4 + ["full flow table", "no free port"])
    ending = chance.choice(["drained", "cut at the end", "cut by t_duration", "stopped"])
    if traffic == "mixed":
        tunables = {
            "size": chance.choice([1, 1000, 20_000, 100_000]),
            "cps": chance.choice([500, 2000, 5000]),
            "cubic": chance.randint(0, 1),
            "sack": chance.randint(0, 1),
            "ecn": chance.randint(0, 2),
        }
        return Round(traffic, MIXED, tunables, 0, seconds, ending)
    tunables = {"flows": 100_000, "hold_seconds": 3, "response_bytes": 100, "cps": 50_000}
    if traffic == "no free port":
        tunables["clients"] = "16.0.0.1-16.0.0.1"
    return Round(traffic, HOLD, tunables, 100_000, seconds, ending)


def impair(bed: Bed, chance: random.Random) -> None:
    """Another network on every port, both ways; one time of three a good one."""
    for end in bed.ends:
        for port in end.ports:
            for direction in ("transmit", "receive"):
                settings = {} if chance.random() < 1 / 3 else _network(chance, direction)
                set_impairment(end, port, direction, settings)


def restore(bed: Bed) -> None:
    """Good networks again."""
    for end in bed.ends:
        for port in end.ports:
            for direction in ("transmit", "receive"):
                set_impairment(end, port, direction, {})


def set_impairment(end: End, port: int, direction: str, settings: dict[str, Any]) -> None:
    """Replace what a port suffers one way."""
    end.client.call(
        "stackcost_set_impairment",
        {"port_id": port, "direction": direction, "settings": settings},
    )


def run(bed: Bed, plan: Round, chance: random.Random) -> dict[str, int]:
    """Run it; returns the counters of both sides together. StackcostError when it goes wrong."""
    for end in bed.ends:
        end.client.load_profile(plan.profile, plan.tunables)
        end.client.call("stackcost_set_payload_check", {"profile_id": "_", "enabled": True})
        end.client.clear_stats()
    impair(bed, chance)
    if bed.serves is not bed.opens:
        bed.serves.client.start(1, client_mask=NO_CLIENTS)
    client = bed.opens.client
    client.start(
        1,
        duration=-1 if plan.ending == "stopped" else plan.seconds,
        nc=plan.ending == "cut at the end",
        t_duration=1 if plan.ending == "cut by t_duration" else 0,
    )
    if plan.held:
        client.call("stackcost_hold_flows", {"profile_id": "_", "flows": plan.held})
    time.sleep(plan.seconds / 2)
    impair(bed, chance)
    time.sleep(plan.seconds / 2)
    if plan.ending == "drained":
        restore(bed)
    if plan.ending == "stopped":
        client.stop()
    else:
        client.wait_on_traffic(TIMEOUT_S)
    counters = _counters(bed)
    if bed.serves is not bed.opens:
        bed.serves.client.stop()
    restore(bed)
    for end in bed.ends:
        _check_payload(end)
    return counters


def leaks(end: End, idle: dict[str, int]) -> dict[str, int]:
    """What is still held when all runs are over, beyond `idle`, after some patience."""
    beyond: dict[str, int] = {}

    def none_left() -> bool:
        nonlocal beyond
        end.generator.check()
        held = end.held()
        beyond = {name: count - idle[name] for name, count in held.items() if count > idle[name]}
        return not beyond

    wait_until(none_left, SETTLE_S, 0.05)
    return beyond


def _network(chance: random.Random, direction: str) -> dict[str, Any]:
    """Frames are damaged on one of the two impairments they pass: one bit is what checksums find
    for certain, while one in 32 pairs of bits cancel out, which nothing in TCP could tell.
    """
    damages = (0, 0.01) if direction == "transmit" else (0,)
    return {
        "loss": chance.choice([0, 0.001, 0.01, 0.05]),
        "duplication": chance.choice([0, 0.01]),
        "reordering": chance.choice([0, 0.01, 0.05]),
        "congestion": chance.choice([0, 0.01]),
        "corruption": chance.choice(damages),
        "delay_us": chance.choice([0, 100, 5000]),
        "jitter_us": chance.choice([0, 100, 1000]),
        "seed": chance.randrange(2**32),
    }


def _counters(bed: Bed) -> dict[str, int]:
    sums = dict.fromkeys(COUNTERS, 0)
    for end in bed.ends:
        traffic = end.client.stats()["traffic"]
        for name in COUNTERS:
            sums[name] += sum(int(traffic[side][name]) for side in ("client", "server"))
    return sums


def _check_payload(end: End) -> None:
    found = end.client.call("stackcost_get_payload_check", {"profile_id": "_"})
    for template in found["templates"]:
        for side in ("client", "server"):
            if template[side]["mismatched_bytes"]:
                raise StackcostError(f"{end.name}: other payload than was sent: {template}")
