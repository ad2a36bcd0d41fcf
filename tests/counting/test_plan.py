"""What of an experiment is counted."""

import subprocess
from pathlib import Path

import pytest

from stackcost.bed.tuning import tier_of
from stackcost.contracts.errors import StackcostError
from stackcost.counting.bed import BACKEND_PLACE, NOT_SET, bed_script
from stackcost.counting.session import program_of, why_not_counted
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.runs.comparison import plan
from stackcost.servers.registry import server_class

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


def test_a_counted_run_has_one_load_in_two_rounds_and_needs_no_bed_here() -> None:
    experiment = read_experiment(EXPERIMENTS / "nginx_kernel.yaml").as_counted()
    turns = plan(experiment, lacking=["astf-peer"])
    assert [(turn.round, len(turn.loads)) for turn in turns] == [(1, 1), (2, 1)]
    assert {each.trial.load.rate for turn in turns for each in turn.loads} == {500.0}
    assert not experiment.uses_this_machine


def test_what_the_file_says_of_counting_stays() -> None:
    experiment = read_experiment(EXPERIMENTS / "nginx_kernel.yaml")
    asked = experiment.as_counted().counted
    assert asked is not None
    own = experiment.model_copy(update={"counted": asked.model_copy(update={"kernel": "6.12"})})
    assert own.as_counted().counted == own.counted


def test_a_file_with_the_key_counted_is_a_counted_run(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "nginx_kernel.yaml").read_text().replace("../trex_profiles/", "")
    file = tmp_path / "own.yaml"
    file.write_text(text + "counted: {connections: 100}\n")
    experiment = read_experiment(file)
    assert experiment == experiment.as_counted()
    assert [(turn.round, len(turn.loads)) for turn in plan(experiment, lacking=[])] == [
        (1, 1),
        (2, 1),
    ]


def test_one_program_on_the_kernels_stack_can_be_counted() -> None:
    assert why_not_counted(server_class("nginx/kernel")) == ""
    assert why_not_counted(server_class("lighttpd-nss/kernel")) == ""
    assert why_not_counted(server_class("haproxy/kernel")) == ""
    for stack in ("go/netstack", "rust/smoltcp"):  # of their own
        assert why_not_counted(server_class(stack)) == ""


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ("nginx-cache/kernel", "its origin is nginx too"),
        ("nginx-tracked/kernel", "its rules are not in the guest"),
        ("nginx/gvisor", "its sandbox is several programs"),
        ("dut/nftables", "it is not one program"),
    ],
)
def test_what_cannot_be_counted_has_its_own_reason(server: str, why: str) -> None:
    assert f"{server} cannot be counted, because {why}" in why_not_counted(server_class(server))


def test_the_peer_can_be_counted_and_no_other_stack_is_counted_as_the_kernels() -> None:
    assert why_not_counted(server_class("astf-peer")) == ""
    nginx = server_class("nginx/kernel")
    assert "on mptcp cannot be counted" in why_not_counted(nginx, "mptcp", Path("tree"))
    proxy = server_class("haproxy/kernel")
    assert "has one interface" in why_not_counted(proxy, "onload-balanced", Path("tree"))


def test_onload_is_counted_where_its_files_for_the_guest_are_named(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "triple.yaml").read_text().replace("../trex_profiles/", "")
    (tmp_path / "tree").mkdir()
    for files, lacking in ("", 2), (", files: tree", 0):
        file = tmp_path / "own.yaml"
        file.write_text(f"{text}counted: {{connections: 100{files}}}\n")
        experiment = read_experiment(file)
        assert not any(each.lacking for each in variants(experiment))  # of this machine
        assert experiment.counted is not None
        why = [
            why_not_counted(server_class(each.server), each.experiment.server.stack, found)
            for each in variants(experiment)
            for found in [experiment.counted.files]
        ]
        assert ["counted.files" in words for words in why if words] == [True] * lacking


def test_a_folder_of_files_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "nginx_kernel.yaml").read_text().replace("../trex_profiles/", "")
    file = tmp_path / "own.yaml"
    file.write_text(text + "counted: {files: tree}\n")
    with pytest.raises(StackcostError, match=r"counted\.files: there is no folder .*/tree"):
        read_experiment(file)


def test_a_program_is_told_by_its_file_also_where_env_starts_it(tmp_path: Path) -> None:
    program = tmp_path / "go-web"
    program.write_bytes(b"program")
    program.chmod(0o755)
    told = program_of(["env", "GOMAXPROCS=1", str(program), "kernel", "1000"])
    assert told == program_of([str(program)]) and told.startswith("go-web ")


def test_a_setting_that_the_guest_lacks_is_told_and_ends_nothing(tmp_path: Path) -> None:
    """The commands for the published tier are run with a sysctl that knows no name."""
    workload = read_experiment(EXPERIMENTS / "nginx_kernel.yaml").workload
    script = bed_script(True, workload, tier_of("published"))
    settings = "\n".join(line for line in script.splitlines() if NOT_SET in line)
    for name in ("ip", "sysctl"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'cannot stat' >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", f"set -e\n{settings}"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "not set: net.core.somaxconn" in done.stdout.splitlines() and not done.stderr


def test_the_peer_has_an_interface_without_addresses() -> None:
    workload = read_experiment(EXPERIMENTS / "nginx_kernel.yaml").workload
    with_addresses, without = (
        bed_script(kernel, workload, tier_of("stock")) for kernel in (True, False)
    )
    assert "addr add" in with_addresses and "route add" in with_addresses
    assert "addr add" not in without and "threaded" in without


def test_backends_have_a_place_behind_the_server_where_they_are_asked_for() -> None:
    workload = read_experiment(EXPERIMENTS / "nginx_kernel.yaml").workload
    alone, with_backends = (
        bed_script(True, workload, tier_of("stock"), backends) for backends in (False, True)
    )
    assert BACKEND_PLACE.namespace not in alone
    for text in (f"netns add {BACKEND_PLACE.namespace}", "polled sc-server1", "nud permanent"):
        assert text in with_backends
    subprocess.run(["sh", "-n", "-c", with_backends], check=True)


@pytest.mark.parametrize(
    ("kernels", "systems"),
    [
        ([], {"nginx/kernel": "6.1"}),
        (["6.12"], {"nginx/kernel": "6.12"}),
        (
            ["6.12", "/own/bzImage"],
            {"nginx/kernel:linux-6.12": "6.12", "nginx/kernel:linux-bzImage": "/own/bzImage"},
        ),
    ],
)
def test_kernels_are_compared_in_one_run(kernels: list[str], systems: dict[str, str]) -> None:
    plan = read_experiment(EXPERIMENTS / "nginx_kernel.yaml").as_counted(kernels)
    found = {each.name: each.experiment.counted for each in variants(plan)}
    assert {name: part.kernel for name, part in found.items() if part} == systems


def test_a_kernels_file_is_relative_to_the_experiment_and_has_to_be_there(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "nginx_kernel.yaml").read_text().replace("../trex_profiles/", "")
    file = tmp_path / "own.yaml"
    file.write_text(text + "counted: {kernel: bzImage}\n")
    with pytest.raises(StackcostError, match=r"counted\.kernel: .* there is no .*/bzImage"):
        read_experiment(file)
    (tmp_path / "bzImage").write_bytes(b"")
    counted = read_experiment(file).counted
    assert counted is not None and counted.kernel == str(tmp_path / "bzImage")


def test_kernels_vary_in_a_counted_run_alone(tmp_path: Path) -> None:
    text = (EXPERIMENTS / "nginx_kernel.yaml").read_text().replace("../trex_profiles/", "")
    file = tmp_path / "own.yaml"
    file.write_text(f'{text}matrix: {{kernel: ["6.1", "6.12"]}}\n')
    with pytest.raises(StackcostError, match=r"matrix\.kernel: .* add counted"):
        read_experiment(file)
