"""The settings of a server, from an experiment."""

from pathlib import Path

import pytest

from stackcost.experiment.profile_load import NO_LOAD, NO_MEMORY
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.servers.registry import server_class
from stackcost.session import server_settings as module
from stackcost.session.server_settings import server_settings
from stackcost.trex.client import TrexClient

AstfPeer = server_class("astf-peer")
NginxKernel = server_class("nginx/kernel")


class Counted(TrexClient):
    """The real client; how often it was started."""

    starts = 0

    def __init__(self) -> None:
        super().__init__()
        Counted.starts += 1


def test_a_peer_serves_the_profile_of_the_part_that_there_is() -> None:
    compare = read_experiment(EXPERIMENTS / "compare.yaml")
    assert server_settings(compare, AstfPeer).profile.name == "http_hold.py"
    loads = compare.model_copy(update={"memory": NO_MEMORY})
    assert server_settings(loads, AstfPeer).profile.name == "http_program.py"
    flows = compare.model_copy(update={"load": NO_LOAD})
    assert server_settings(flows, NginxKernel).request.startswith(b"GET ")


def test_the_request_of_a_profile_is_asked_once_until_the_file_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "TrexClient", Counted)
    experiment = read_experiment(EXPERIMENTS / "compare.yaml")
    profile = tmp_path / "profile.py"
    profile.write_bytes(experiment.load.profile.read_bytes())
    load = experiment.load.model_copy(update={"profile": profile})
    experiment = experiment.model_copy(update={"load": load})
    first, second = (server_settings(experiment, NginxKernel) for _ in range(2))
    assert first.request == second.request and first.request.startswith(b"GET ")
    assert Counted.starts == 1
    profile.write_text(profile.read_text() + "# changed\n")
    assert server_settings(experiment, NginxKernel).request == first.request
    assert Counted.starts == 2
