"""What connections, handshakes, requests and bytes cost, from tests of known cost."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from stackcost.analysis.comparing.significance import holm
from stackcost.analysis.spread import spread
from stackcost.analysis.summary import Level, Summary
from stackcost.report.http_tls import KINDS, tls_costs, tls_parts_answer
from stackcost.report.http_versions import version_costs
from stackcost.report.tables import price_table
from tests.analysis.http_trials import asked, summary

ROUNDS = (1.0, 1.1)  # how much all costs of a round are multiplied by
MADE = summary(asked("wrk", 10, "any", 0, 1000))


def level(
    name: str, costs: Mapping[str, float], rate: float = 0, slab: float = 0, **settings: object
) -> Level:
    """A test that takes so many microseconds by kind in the first round."""
    (server,) = MADE.servers
    (some,) = server.levels
    assert some.http is not None

    def rounds(cost: float, unit: str = "us"):  # type: ignore[no-untyped-def]
        return spread([cost * each for each in ROUNDS], unit, rounds=range(1, 1 + len(ROUNDS)))

    own = {"body_bytes": [1000], "connections": 10, **settings}
    http = replace(some.http, **own)
    return some.model_copy(
        update={
            "test": name,
            "offered_cps": rate,
            "http": http,
            "figures": some.figures
            | {f"server_cpu.{kind}": rounds(costs.get(kind, 0.0)) for kind in KINDS}
            | {
                "http.rate": rounds(rate, "1/s"),
                "server_cpu_total": rounds(sum(costs.values())),
                "process_memory": spread([1e6 + 3 * slab] * 2, "B", rounds=[1, 2]),
                "connection_slab": spread([5e6 + slab] * 2, "B", rounds=[1, 2]),
            },
        }
    )


def of(levels: Mapping[str, list[Level]]) -> Summary:
    (server,) = MADE.servers
    servers = [
        server.model_copy(update={"name": name, "levels": own}) for name, own in levels.items()
    ]
    return MADE.model_copy(update={"servers": servers})


def tls_tests(signature: float, per_kilobyte: float) -> list[Level]:
    """TCP's connection takes 30 us, a request 20, TLS 2 us more, its handshake 100 + signature."""
    bare, new = {"user": 10.0, "softirq": 10.0}, {"user": 20.0, "softirq": 30.0}
    full = {"user": 122.0 + signature, "softirq": 30.0}
    long = {"user": 10.0, "softirq": 60.0}
    one = {"kept": False}
    return [
        level("new", new, **one),
        level("full", full, tls=True, program="ab", **one),
        level("resumed", {"user": 122.0, "softirq": 30.0}, tls=True, resumed=True, **one),
        level("kept", bare, kept=True),
        level("kept-tls", {"user": 12.0, "softirq": 10.0}, kept=True, tls=True),
        level("long", long, kept=True, body_bytes=[101_000]),
        level(
            "long-tls",
            {"user": 12.0 + 100 * per_kilobyte, "softirq": 60.0},
            kept=True,
            tls=True,
            body_bytes=[101_000],
        ),
    ]


def test_the_parts_of_tls_are_found_from_what_tests_differ_in() -> None:
    made = of({"nginx/kernel:rsa-2048": tls_tests(500, 0.2), "lean": tls_tests(90, 0.5)})
    rsa, lean = tls_costs(made)
    medians = {part: cost.total.median for part, cost in rsa.parts.items()}
    assert medians == pytest.approx(
        {
            "connection without TLS": 30 * 1.05,
            "full handshake": 600 * 1.05,
            "resumed handshake": 100 * 1.05,
            "request over TLS": 2 * 1.05,
            "kilobyte over TLS": 0.2 * 1.05,
        }
    )
    assert rsa.parts["full handshake"].kinds["softirq"].median == pytest.approx(0)
    assert rsa.parts["full handshake"].total.values == pytest.approx([600, 660])
    assert lean.parts["kilobyte over TLS"].total.median == pytest.approx(0.5 * 1.05)


def test_without_a_full_handshake_there_is_no_answer() -> None:
    assert tls_costs(of({"a": [level("kept", {"user": 1.0}, kept=True)]})) == []
    assert "No full handshake was measured" in tls_parts_answer(of({"a": []}))


def version(number: str, request: float, connection: float, slab: float) -> list[Level]:
    own = {"version": number, "tls": True}
    kept, new = {"user": request, "softirq": 5.0}, {"user": request + connection, "softirq": 15.0}
    return [
        level(f"new-{number}", new, rate=40, kept=False, **own),
        level(f"kept-{number}", kept, rate=40, kept=True, **own),
        level(f"kept-{number}", {"user": request - 10, "softirq": 5.0}, rate=160, kept=True, **own),
        level(f"open-{number}", kept, rate=40, kept=True, slab=slab, connections=110, **own),
    ]


def test_a_version_costs_its_request_and_what_a_connection_takes_more() -> None:
    made = of(
        {
            "caddy": version("1.1", 50, 300, 100_000) + version("3", 100, 600, 0),
            "nginx": version("1.1", 40, 200, 0),
        }
    )
    old, new, _ = version_costs(made)
    assert (old.version, old.rate, old.connection_rate) == ("1.1", 160, 40)
    assert old.request.total.median == pytest.approx(45 * 1.05)
    assert old.connection is not None and new.connection is not None
    assert old.connection.total.median == pytest.approx(310 * 1.05)
    assert old.connection.kinds["softirq"].median == pytest.approx(10 * 1.05)
    assert new.connection_compared is not None
    assert new.connection_compared.ratio == pytest.approx(610 / 310)
    assert old.slab_bytes is not None and old.slab_bytes.median == pytest.approx(1000)
    assert old.process_bytes is not None and old.process_bytes.median == pytest.approx(3000)
    assert new.slab_bytes is not None and new.slab_bytes.median is None
    assert new.slab_bytes.reason.startswith("it did not grow with the connections: 0 to 0 B")


def test_all_versions_of_a_run_are_judged_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judged one by one, equal versions would be called different more often than is stated."""
    monkeypatch.setattr(f"{__name__}.ROUNDS", tuple(1 + 0.01 * at for at in range(12)))
    old, new = version("1.1", 50, 300, 0), version("2", 60, 330, 0)
    made = of({"caddy": old + new + version("3", 100, 600, 0), "nginx": old + new})
    found = [
        each
        for cost in version_costs(made)
        for each in (cost.request_compared, cost.connection_compared)
        if each is not None
    ]
    assert len(found) == 6 and {each.verdict for each in found} == {"dearer"}
    assert [each.p_corrected for each in found] == pytest.approx(
        holm([each.p or 0.0 for each in found])
    )
    assert all((each.p_corrected or 0.0) > 2 * (each.p or 1.0) for each in found)


def test_a_rate_that_was_not_answered_is_in_no_cost() -> None:
    made = version("1.1", 50, 300, 0) + version("3", 100, 600, 0)
    (fast,) = [at for at, each in enumerate(made) if each.load == "kept-3 at 160"]
    late = {"http.rate": spread([100.0, 110.0], "1/s", rounds=[1, 2])}
    made[fast] = made[fast].model_copy(update={"figures": made[fast].figures | late})
    old, new = version_costs(of({"caddy": made}))
    assert (old.rate, new.rate) == (160, 40)


def test_one_version_alone_is_no_comparison() -> None:
    assert version_costs(of({"nginx": version("1.1", 40, 200, 0)})) == []


def test_a_million_connections_take_core_hours_and_their_price() -> None:
    made = of({"nginx": [level("new", {"user": 30.0, "softirq": 6.0})]})
    ((_, _, hours, money, energy),) = price_table(made).rows
    assert hours == "0.01 (0.01-0.01)" and money.startswith("n/a: core_hour_price is not in")
    assert energy.startswith("n/a: ")
    ((_, _, _, money, _),) = price_table(made.model_copy(update={"core_hour_price": 50})).rows
    assert money == "0.53 (0.50-0.55) at 50 per core hour"
