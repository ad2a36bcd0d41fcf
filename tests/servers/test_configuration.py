"""nginx.conf as rendered, without starting nginx."""

import jinja2
import pytest

from stackcost.files import SERVERS
from stackcost.servers.nginx_status import Build, affinity_masks
from stackcost.servers.registry import module_of

render = module_of(SERVERS / "nginx_kernel/configuration.py").render

BUILD = Build("/usr/sbin/nginx", "nginx/1.22.1", ("proxy",))
SETTINGS = {
    "workers": 1,
    "affinity_masks": ["10"],
    "open_files": None,
    "worker_connections": 64,
    "keepalive_timeout_s": 75,
    "address": "48.0.0.1",
    "reuseport": False,
    "backlog": None,
    "files": {},
    "listeners": {80: ""},
    "protocols": "",
    "http2": False,
    "directives": {"main": {}, "events": {}, "http": {"sendfile": "on"}},
}


def test_masks_take_the_cores_in_turn() -> None:
    assert affinity_masks(3, (1, 3)) == ["10", "1000", "10"]


def test_only_modules_of_this_build_are_named() -> None:
    text = render(BUILD, **SETTINGS)
    assert "proxy_temp_path" in text and "uwsgi_temp_path" not in text
    assert "sendfile on;" in text
    assert "listen 48.0.0.1:80;" in text and "worker_rlimit_nofile" not in text
    assert "listen 48.0.0.1:80 reuseport;" in render(BUILD, **{**SETTINGS, "reuseport": True})
    assert "listen 48.0.0.1:80 backlog=9;" in render(BUILD, **{**SETTINGS, "backlog": 9})


def test_each_tls_port_says_whether_it_gives_tickets() -> None:
    listeners = {80: "", 443: "off", 444: "on"}
    text = render(BUILD, **{**SETTINGS, "listeners": listeners, "http2": True})
    plain, full, resumed, _ = text.split("    server {")[1:]
    assert "listen 48.0.0.1:80;" in plain and "ssl_certificate" not in plain
    assert "listen 48.0.0.1:443 ssl http2;" in full and "ssl_session_tickets off;" in full
    assert "listen 48.0.0.1:444 ssl http2;" in resumed and "ssl_session_tickets on;" in resumed


def test_a_value_left_out_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="listeners"):
        render(BUILD, **{name: value for name, value in SETTINGS.items() if name != "listeners"})
