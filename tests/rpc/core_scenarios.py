"""What the unmodified TRex client sees of a server with several data cores or port pairs.

Run by tests.rpc.forked; in sys.argv[4:] are the port pairs and the data cores of each.
"""

import sys
import time
from typing import Any

from tests.rpc.client_scenarios import RESPONSE_BYTES, client, http  # opens TRex's interface

GROUPS = 3
LIMIT = 101  # flows of each group; not a multiple of any number of cores


def shape() -> tuple[int, int]:
    """Port pairs of the server, and data cores of each."""
    return int(sys.argv[4]), int(sys.argv[5])


def loaded(**options: Any) -> Any:
    """A client with a profile that was run to its limit, after starts cut off in full flight."""
    c = client()
    c.reset()
    c.load_profile(http(groups=GROUPS, limit=LIMIT))
    for _ in range(5):
        c.start(mult=5, duration=100)
        c.stop()
    c.clear_stats()
    c.start(**{"duration": 2} | options)
    c.wait_on_traffic(timeout=20)
    return c


def counters() -> None:
    """No flow fails or is counted twice, in all, by group and by port; IPv4 and IPv6."""
    pairs, cores = shape()
    for ipv6 in (False, True):
        c = loaded(mult=2, duration=1, ipv6=ipv6)
        stats = c.get_stats()
        one, other = stats["traffic"]["client"], stats["traffic"]["server"]
        flows = GROUPS * LIMIT
        assert one["tcps_connattempt"] == one["tcps_connects"] == one["tcps_closed"] == flows
        assert other["tcps_accepts"] == other["tcps_connects"] == other["tcps_closed"] == flows
        assert one["tcps_rcvbyte"] == other["tcps_sndbyte"] == flows * RESPONSE_BYTES
        assert one["m_active_flows"] == other["m_active_flows"] == 0
        assert not c.is_traffic_stats_error(stats["traffic"])[0], stats["traffic"]
        groups = c.get_traffic_tg_stats(c.get_tg_names())
        assert len(groups) == GROUPS
        assert all(group["client"]["tcps_closed"] == LIMIT for group in groups.values()), groups
        for pair in range(pairs):
            port, peer = stats[2 * pair], stats[2 * pair + 1]
            assert port["opackets"] == peer["ipackets"] > flows / pairs, stats
            assert port["ipackets"] == peer["opackets"] > flows / pairs, stats
        cpus = c.get_util_stats()["cpu"]
        assert sorted(cpu["ports"] for cpu in cpus) == sorted(
            [2 * pair, 2 * pair + 1] for pair in range(pairs) for _ in range(cores)
        ), cpus
        c.disconnect()


def addresses() -> None:
    """Each core of each pair has clients of its own; pairs are ip_offset apart."""
    pairs, cores = shape()
    c = client()
    c.reset()
    shares = c.get_traffic_distribution("16.0.0.0", "16.0.0.255", "1.0.0.0", False)
    assert list(shares) == [2 * pair for pair in range(pairs)], shares
    taken: list[str] = []
    for number, ranges in shares.items():
        assert len(ranges) == cores, shares
        for share in ranges.values():
            assert share["start"].startswith(f"{16 + number // 2}.0.0."), shares
            taken += [share["start"], share["end"]]
    assert len(set(taken)) == len(taken), shares
    c.disconnect()


def latency() -> None:
    """What a pair sends of latency packets arrives once, in order, whichever core receives it."""
    pairs, _ = shape()
    c = loaded(latency_pps=500)
    for _ in range(2):  # along with a profile, and alone
        measured = c.get_stats()["latency"]
        assert set(measured) == set(range(2 * pairs))
        for port, values in measured.items():
            sent = measured[port ^ 1]["stats"]["m_tx_pkt_ok"]
            assert values["stats"]["m_pkt_ok"] == sent > 0, measured
            assert values["stats"]["m_seq_error"] == 0, measured
        c.start_latency(mult=1000)
        time.sleep(0.5)
        c.stop_latency()
    c.disconnect()
