"""nginx.conf as rendered, without starting nginx."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import pytest

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.placement import Placement
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.files import SERVERS
from stackcost.host.kernel_stack import Kernel
from stackcost.servers.nginx_status import PROXYING_MODULES, affinity_masks, find_build
from stackcost.servers.registry import server_class
from stackcost.servers.template import render_template
from tests.servers.conftest import PLAIN

HERE = "sc", "sc0", (1,)


def rendered(**settings: Any) -> str:
    stack = Kernel(Placement(*HERE, Path(), ("48.0.0.1", 80)))
    endpoint = Endpoint(*HERE, "48.0.0.1", 80, Path(), stack)
    server: Any = server_class("nginx/kernel")(endpoint, replace(PLAIN, **settings))
    return str(server.configuration())


def test_masks_take_the_cores_in_turn() -> None:
    assert affinity_masks(3, (1, 3)) == ["10", "1000", "10"]


def test_only_modules_of_this_build_are_named() -> None:
    text = rendered()
    named = [name for name in PROXYING_MODULES if f"{name}_temp_path" in text]
    assert named == list(find_build().proxying_modules)
    assert "sendfile on;" in text
    assert "listen 48.0.0.1:80 reuseport;" in text and "worker_rlimit_nofile" not in text
    one = ProgramSettings(reuseport=False)
    assert "listen 48.0.0.1:80;" in rendered(program=one)
    one = ProgramSettings(reuseport=False, backlog=9)
    assert "listen 48.0.0.1:80 backlog=9;" in rendered(program=one)


def test_each_tls_port_says_whether_it_gives_tickets() -> None:
    text = rendered(tls_port=443, resumption_port=444, http_versions=("1.1", "2"))
    plain, full, resumed, _ = text.split("    server {")[1:]
    assert "listen 48.0.0.1:80 reuseport;" in plain and "ssl_certificate" not in plain
    assert "listen 48.0.0.1:443 ssl http2 reuseport;" in full and "ssl_session_tickets off;" in full
    assert (
        "listen 48.0.0.1:444 ssl http2 reuseport;" in resumed
        and "ssl_session_tickets on;" in resumed
    )


def test_a_value_left_out_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="workers"):
        render_template(SERVERS / "nginx_kernel/nginx.conf.j2")
