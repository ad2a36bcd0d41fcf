"""What the unmodified TRex client asks of a server.

Run by tests.rpc.forked with the ports of RPC and events in sys.argv[2:]; fails by an exception.
"""

import sys
import time
from typing import Any

from stackcost.trex.trex_api import open_trex_api

open_trex_api()

from trex.astf.api import (  # noqa: E402
    ASTFAssociationRule,
    ASTFClient,
    ASTFIPGen,
    ASTFIPGenDist,
    ASTFIPGenGlobal,
    ASTFProfile,
    ASTFProgram,
    ASTFTCPClientTemplate,
    ASTFTCPServerTemplate,
    ASTFTemplate,
    TRexError,
)
from trex.astf.trex_astf_exceptions import ASTFErrorBadTG  # noqa: E402

RESPONSE_BYTES = 1000


def client(user: str = "first") -> Any:
    """Connected."""
    made = ASTFClient(
        username=user,
        server="127.0.0.1",
        sync_port=int(sys.argv[2]),
        async_port=int(sys.argv[3]),
    )
    made.connect()
    return made


def http(
    cps: float = 100,
    port: int = 80,
    groups: int = 1,
    padding: str = "",
    limit: int | None = None,
    linger_us: int = 0,
    clients: tuple[str, str] = ("16.0.0.1", "16.0.0.200"),
) -> Any:
    """A request and a response for each of `groups` template groups, on successive ports.

    `limit`: flows of each group in all. `linger_us`: how long a client keeps its flow open.
    """
    request = ASTFProgram()
    request.send("G" * 100)
    request.recv(RESPONSE_BYTES)
    if linger_us:
        request.delay(linger_us)
    response = ASTFProgram()
    response.recv(100)
    response.send("x" * RESPONSE_BYTES)
    if padding:
        response.send(padding)
    addresses = ASTFIPGen(
        glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
        dist_client=ASTFIPGenDist(ip_range=[*clients]),
        dist_server=ASTFIPGenDist(ip_range=["48.0.0.1", "48.0.0.10"]),
    )
    templates = [
        ASTFTemplate(
            client_template=ASTFTCPClientTemplate(
                program=request, ip_gen=addresses, cps=cps, port=port + group, limit=limit
            ),
            server_template=ASTFTCPServerTemplate(
                program=response, assoc=ASTFAssociationRule(port=port + group)
            ),
            tg_name=f"group {group}",
        )
        for group in range(groups)
    ]
    return ASTFProfile(default_ip_gen=addresses, templates=templates)


def refused(words: str, action: Any, *arguments: Any, **options: Any) -> None:
    try:
        action(*arguments, **options)
    except TRexError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


def whole_run() -> None:
    """Every call of an ordinary session, and the consistency rules of counters."""
    c = client()
    c.reset()
    c.load_profile(http())
    c.clear_stats()
    c.start(mult=5, duration=1)
    assert c.get_port_info(0)[0]["status"] == "TRANSMITTING"
    c.update(mult=10)
    c.wait_on_traffic(timeout=20)
    stats = c.get_stats()
    one, other = stats["traffic"]["client"], stats["traffic"]["server"]
    flows = one["tcps_connattempt"]
    assert flows > 200
    assert one["tcps_connects"] == one["tcps_closed"] == flows
    assert other["tcps_accepts"] == other["tcps_connects"] == other["tcps_closed"] == flows
    assert one["tcps_rcvbyte"] == other["tcps_sndbyte"] == flows * RESPONSE_BYTES
    assert other["tcps_rcvackbyte"] == other["tcps_sndbyte"]
    assert one["m_active_flows"] == other["m_active_flows"] == 0
    assert not c.is_traffic_stats_error(stats["traffic"])[0]
    assert stats[0]["opackets"] == stats[1]["ipackets"] > 0
    assert set(stats["latency"]) == {0, 1}
    assert c.get_stats(is_sum=True)["traffic"]["client"]["tcps_connects"] == flows
    c.clear_stats()
    assert "tcps_connects" not in c.get_stats()["traffic"]["client"]
    c.disconnect()


def latency_streams() -> None:
    """Alone, with a profile, and what they measured."""
    c = client()
    c.reset()
    refused("Latency is not active", c.update_latency, mult=5)
    c.start_latency(mult=200)
    refused("should stop latency first", c.start_latency, mult=200)
    time.sleep(0.6)
    c.update_latency(mult=1000)
    time.sleep(0.4)
    c.stop_latency()
    alone = c.get_stats()["latency"]
    sent = alone[0]["stats"]["m_tx_pkt_ok"]
    assert alone[1]["stats"]["m_pkt_ok"] == sent > 100, alone
    assert alone[0]["stats"]["m_pkt_ok"] == alone[1]["stats"]["m_tx_pkt_ok"] > 0
    for port in alone.values():
        hist = port["hist"]
        assert hist["cnt"] == port["stats"]["m_pkt_ok"]
        assert sum(bucket["val"] for bucket in hist["histogram"]) == hist["high_cnt"]
        assert port["stats"]["m_seq_error"] == 0
    c.load_profile(http())
    c.start(duration=1, latency_pps=500)
    c.wait_on_traffic(timeout=20)
    along = c.get_stats()["latency"]
    assert 100 < along[1]["stats"]["m_pkt_ok"] != sent
    c.start_latency(mult=1)  # the profile's have ended with it
    c.reset()
    c.stop_latency()
    c.disconnect()


def stop_and_start_again() -> None:
    """The state machine under many quick starts and stops."""
    c = client()
    c.reset()
    c.load_profile(http())
    for _ in range(20):
        c.start(duration=100)
        c.stop()
    c.stop()
    c.start(duration=100)
    refused("Transmitting", c.start)
    refused("Transmitting", c.load_profile, http())
    c.stop(is_remove=True)
    c.clear_profile()
    c.disconnect()


def large_upload() -> None:
    """A profile of several fragments, loaded twice, then another."""
    c = client()
    c.reset()
    large = http(padding="y" * 1_500_000)
    c.load_profile(large)
    c.load_profile(large)
    c.load_profile(http())
    c.start(duration=0.2)
    c.wait_on_traffic(timeout=20)
    assert c.get_stats()["traffic"]["client"]["tcps_connects"] > 0
    c.disconnect()


def several_profiles() -> None:
    """Profiles side by side, their groups, their sum, and a port that is taken."""
    c = client()
    c.reset()
    names = ["a", "b", "c"]
    for number, name in enumerate(names):
        c.load_profile(http(port=8000 + 100 * number, groups=3), pid_input=name)
    assert set(names) <= set(c.get_profiles())
    for name in names:
        c.start(pid_input=name, duration=1)
    c.load_profile(http(port=8000), pid_input="late")
    refused("8000", c.start, pid_input="late")
    c.wait_on_traffic(timeout=20, profile_id="a")
    c.wait_on_traffic(timeout=20)
    total = 0
    for name in names:
        all_groups = c.get_stats(pid_input=name)["traffic"]["client"]
        groups = c.get_traffic_tg_stats(c.get_tg_names(name), pid_input=name)
        assert list(groups) == ["group 0", "group 1", "group 2"]
        for counter in ("tcps_connects", "tcps_rcvbyte", "tcps_closed"):
            assert sum(g["client"][counter] for g in groups.values()) == all_groups[counter]
        total += all_groups["tcps_connects"]
    assert c.get_stats(is_sum=True, pid_input="a")["traffic"]["client"]["tcps_connects"] == total
    c.clear_profile(pid_input="*")
    c.reset()
    assert c.get_profiles() == ["_"]
    c.disconnect()


def two_clients() -> None:
    """The context is taken, and taken over."""
    first, second = client(), client("second")
    first.acquire(force=True)
    refused("already taken", second.acquire)
    second.reset()
    refused("must acquire the context", first.load_profile, http())
    second.load_profile(http())
    second.start(duration=0.2)
    second.wait_on_traffic(timeout=20)
    first.disconnect()
    second.disconnect()


def errors_at_start() -> None:
    """What is wrong with a profile is told at the start, and the next profile runs."""
    c = client()
    c.reset()
    params = {"profile_id": "_", "frag_first": True, "frag_last": True, "handler": c.handler}
    assert c._transmit("profile_fragment", {**params, "fragment": '{"templates":'})
    refused("JSON", c.start)
    refused("group 9", _no_such_group, c)
    c.load_profile(http())
    c.start(duration=0.2)
    c.wait_on_traffic(timeout=20)
    c.disconnect()


def _no_such_group(c: Any) -> None:
    try:
        c.get_traffic_tg_stats("group 9")
    except ASTFErrorBadTG as error:
        raise TRexError(str(error)) from None


def ipv6() -> None:
    """start(ipv6=True): all flows complete, behind a header that is 20 bytes longer."""
    c = client()
    c.reset()
    c.load_profile(http())
    headers = {}
    for forced in (False, True):
        c.clear_stats()
        c.start(mult=2, duration=0.5, ipv6=forced)
        c.wait_on_traffic(timeout=20)
        stats = c.get_stats()
        one, other = stats["traffic"]["client"], stats["traffic"]["server"]
        assert one["tcps_connects"] == one["tcps_closed"] == other["tcps_accepts"] > 50
        assert one["tcps_rcvbyte"] == other["tcps_sndbyte"]
        port = stats[0]
        headers[forced] = (port["obytes"] - one["tcps_sndbyte"]) / port["opackets"]
    assert 19 < headers[True] - headers[False] < 21, headers
    c.disconnect()


def limits_of_runs() -> None:
    """Duration, drain limit, server side only, nothing cut when time is given."""
    c = client()
    c.reset()
    c.load_profile(http())
    began = time.monotonic()
    c.start(duration=-1, t_duration=0.5)
    c.wait_on_traffic(timeout=20)
    assert time.monotonic() - began > 0.5
    c.start(duration=0.3, client_mask=0)
    c.wait_on_traffic(timeout=20)
    assert "tcps_connattempt" not in c.get_stats()["traffic"]["client"]
    c.start(duration=0.3, nc=True)
    c.wait_on_traffic(timeout=20)
    assert c.get_stats()["traffic"]["client"]["m_active_flows"] == 0
    c.disconnect()


def flow_information() -> None:
    """What is told of connections while they are open, and that they are numbered."""
    c = client()
    c.reset()
    c.load_profile(http(linger_us=20_000_000))
    c.start(duration=-1, dump_interval=0.05)
    told: dict[str, Any] = {}
    samples: list[Any] = []
    exchanged = 1 + 100 + 1 + RESPONSE_BYTES + 1  # SYNs, and the server's FIN, count as one each
    while [s[-1]["snd_nxt"] + s[-1]["rcv_nxt"] for s in samples] != [exchanged, exchanged]:
        told = c.get_flow_info(index=0)
        assert told.pop("next_index") >= 0
        samples = list(told.values())
    for name, (*_, last) in told.items():
        source, destination = name.split("-")
        client_side = last["origin"] == "client"
        assert source.startswith("16." if client_side else "48."), name
        assert destination.endswith(":80") == client_side, name
        assert last["state"] == (5 if client_side else 9)  # CLOSE_WAIT, FIN_WAIT_2
        assert "/timestamps/sack" in last["options"]
        numbers = (101, RESPONSE_BYTES + 2) if client_side else (RESPONSE_BYTES + 2, 101)
        assert (last["snd_nxt"], last["rcv_nxt"]) == numbers, last
        assert last["rtt"] > 0
    c.stop()
    c.disconnect()


def ports_and_server() -> None:
    """Addresses of ports, and what can be asked of the server."""
    c = client()
    c.reset()
    c.set_vlan(ports=[0], vlan=30)
    assert c.get_port_attr(0)["vlan"] == 30
    c.clear_vlan(ports=[0])
    c.set_service_mode(enabled=True)
    c.set_l2_mode(0, "02:00:00:00:00:09")
    assert c.get_port_attr(0)["dest"] == "02:00:00:00:00:09"
    c.set_service_mode(enabled=False)
    utilization = c.get_util_stats()
    assert utilization["cpu"][0]["ports"] == [0, 1]
    ((free, total),) = utilization["mbuf_stats"]["cpu-socket-0"].values()
    assert 0 < free <= total
    distribution = c.get_traffic_distribution("16.0.0.0", "16.0.0.255", "1.0.0.0", False)
    assert distribution == {0: {0: {"start": "16.0.0.0", "end": "16.0.0.255"}}}
    assert c.get_global_cfg() and c.ping_rpc_server()
    assert c.get_xstats(0) == {"capture_ring_full": 0, "vlan_tags_of_untold_type": 0}
    for method in ("stackcost_get_cpu", "stackcost_get_memory"):
        assert c._transmit(method).data()
    c.disconnect()


def what_is_refused() -> None:
    """Stateless streams and namespaces: what the client makes of the server's words."""
    c = client()
    c.reset()
    c.set_service_mode(enabled=True)
    refused("Linux stack", c.set_namespace, port=0, method="get_nodes")
    c.set_service_mode(enabled=False)
    streams = c._transmit("add_stream", {"port_id": 0})
    assert "ASTF mode alone" in streams.err(), streams
    c.load_profile(http())
    c.start(duration=0.2)
    c.wait_on_traffic(timeout=20)
    c.disconnect()
