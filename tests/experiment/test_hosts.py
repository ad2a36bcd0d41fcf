"""The sections `hosts` and `bed`: a test bed over two hosts, as data."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.session.generators import gateways_of, generators_of

OWN = """
title: two hosts
servers: [nginx/kernel]
baseline: nginx/kernel
against: nginx/kernel
rounds: 1
hosts:
  lab-b: {address: 192.0.2.2, key: keys/lab}
bed:
  server: {host: lab-b, interfaces: [enp3s0]}
  load: {interfaces: [enp4s0]}
cores: {load: [2, 3], server: [2, 3]}
workload: {clients: 16.0.0.1-16.0.0.9, server: 48.0.0.1, port: 80}
load: {profile: http_program.py, offered_cps: [10], warm_up_s: 1, sustain_s: 1, drain_s: 1}
"""
ON_A: dict[str, Any] = {"host": "lab-a", "interfaces": ["enp3s0"]}
ON_B: dict[str, Any] = {"host": "lab-b", "interfaces": ["enp3s0"]}
VHOST = "net_vhost0,iface=/run/stackcost/sc-b0.socket,client=1"
SHARED = {"interfaces": [VHOST]}
TWO = {"lab-a": {"address": "192.0.2.1"}, "lab-b": {"address": "192.0.2.2"}}


def load(folder: Path, **changed: Any) -> Experiment:
    """The experiment above with some sections changed; None: left out."""
    document = YAML(typ="safe").load(OWN) | changed
    file = folder / "own.yaml"
    YAML().dump({key: each for key, each in document.items() if each is not None}, file)
    return read_experiment(file)


def test_hosts_are_named_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    experiment = load(tmp_path)
    host = experiment.hosts["lab-b"]
    assert (host.address, host.user, host.port) == ("192.0.2.2", "root", 22)
    assert host.key == tmp_path / "keys" / "lab"
    assert host.known_hosts == Path.home() / ".ssh" / "known_hosts"
    assert experiment.bed and experiment.bed.server.interfaces == ["enp3s0"]
    again = Experiment.model_validate(experiment.model_dump(mode="json"))
    assert again == experiment, "a stored plan is the same"


def test_cores_of_two_hosts_may_have_the_same_numbers(tmp_path: Path) -> None:
    assert load(tmp_path).cores.common == [2, 3]
    with pytest.raises(StackcostError, match=r"line \d+: cores: both sides would use cores"):
        load(tmp_path, hosts=None, bed=None)


def test_generators_of_one_machine_divide_the_clients_by_their_shares(tmp_path: Path) -> None:
    own: dict[str, Any] = {"hosts": None, "bed": None, "cores": {"load": [0], "server": [1]}}
    (single,) = generators_of(load(tmp_path, **own))
    assert (single.name, single.part, single.clients) == ("generator", 1, "16.0.0.1-16.0.0.9")
    three = load(tmp_path, **own, generators=[{"share": 2}, {}, {"cores": [4]}])
    assert [(each.name, each.part, each.clients, each.cpus) for each in generators_of(three)] == [
        ("generator-1", 0.5, "16.0.0.1-16.0.0.4", (0,)),
        ("generator-2", 0.25, "16.0.0.5-16.0.0.7", (0,)),
        ("generator-3", 0.25, "16.0.0.8-16.0.0.9", (4,)),
    ]
    second, third = gateways_of(three)
    assert (second.address, third.address) == ("198.18.0.11", "198.18.0.12")
    assert third.networks == ("16.0.0.8/31",)


def test_the_load_may_be_on_other_hosts_and_the_server_here(tmp_path: Path) -> None:
    both: dict[str, Any] = {"hosts": TWO}
    bed = {"server": {"interfaces": ["enp1s0"]}, "load": [ON_A, {**ON_B, "share": 3}]}
    experiment = load(tmp_path, **both, bed=bed)
    first, second = generators_of(experiment)
    assert (first.words, first.part, first.interfaces) == (
        "generator-1 on lab-a",
        0.25,
        ("enp3s0",),
    )
    assert (second.host, second.cpus) == ("lab-b", (2, 3))
    assert Experiment.model_validate(experiment.model_dump(mode="json")) == experiment


def test_the_port_of_a_generator_may_be_a_virtual_device(tmp_path: Path) -> None:
    (single,) = generators_of(load(tmp_path, bed={"server": ON_B, "load": SHARED}))
    assert single.interfaces == (VHOST,)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"servers": ["astf-peer"], "baseline": "astf-peer", "against": "astf-peer"}
            | {"bed": {"server": ON_B, "load": SHARED}},
            "one generator loads servers on the kernel's stack",
        ),
        (
            {"bed": {"server": ON_B, "load": [SHARED, ON_A]}, "hosts": TWO},
            "one generator loads servers on the kernel's stack",
        ),
        ({"bed": {"server": ON_B | {"interfaces": [VHOST]}, "load": ON_A}}, "bed.server"),
        (
            {"bed": None, "cores": {"load": [0], "server": [1]}},
            "hosts: no part of the test bed uses them",
        ),
        ({"hosts": None}, "bed: 'lab-b' is not in hosts, which has: none"),
        (
            {"bed": {"server": {"interfaces": ["a"]}, "load": {"interfaces": ["b"]}}},
            "this machine has two parts of the test bed",
        ),
        (
            {"bed": {"server": ON_B, "load": [{"interfaces": ["a"]}, ON_B]}},
            "lab-b has two parts of the test bed",
        ),
        ({"generators": [{}, {}]}, "generators: with a section bed, list them in bed.load"),
        (
            {
                "bed": {"server": ON_B, "load": [ON_A, {"interfaces": ["a"]}]},
                "hosts": TWO,
                "workload": {"clients": "16.0.0.1-16.0.0.1", "server": "48.0.0.1", "port": 80},
            },
            "2 generators cannot divide 1 addresses",
        ),
        (
            {
                "load": None,
                "http": {
                    "processes": 1,
                    "tests": [{"name": "one", "program": "wrk", "connections": 1}],
                },
            },
            "http",
        ),
        ({"servers": ["./own.py"], "baseline": "own", "against": "own"}, "a server of your own"),
        ({"dut": {"server": "nginx"}}, r"nginx behind a device \(dut.server\)"),
    ],
)
def test_what_two_hosts_cannot_do_is_refused(
    tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(StackcostError, match=words):
        load(tmp_path, **changed)
