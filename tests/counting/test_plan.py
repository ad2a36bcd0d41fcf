"""What of an experiment is counted."""

import subprocess
from pathlib import Path

import pytest

from stackcost.bed.tuning import tier_of
from stackcost.contracts.errors import StackcostError
from stackcost.counting.bed import NOT_SET, bed_script
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
    assert {each.load.rate for turn in turns for each in turn.loads} == {500.0}
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
    for other in ("haproxy/kernel", "rust/smoltcp"):
        assert "cannot be counted" in why_not_counted(server_class(other))


def test_the_peer_can_be_counted_and_no_other_stack_is_counted_as_the_kernels() -> None:
    assert why_not_counted(server_class("astf-peer")) == ""
    nginx = server_class("nginx/kernel")
    assert "on mptcp cannot be counted" in why_not_counted(nginx, "mptcp", Path("tree"))


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
