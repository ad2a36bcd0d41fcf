"""A stored counted run with known answers, written through the store as the runner does."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from stackcost.contracts.load import CountedLoad
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.counting.counts import Count, Where, samples_of
from stackcost.experiment.read_file import read_experiment
from stackcost.store import Manifest, RunFolder
from tests.analysis.trials import client_counters
from tests.report.stored import MACHINE

NGINX_KERNEL = Path(__file__).resolve().parents[2] / "experiments" / "nginx_kernel.yaml"
CONNECTIONS = 500
POLL = "napi/sc-server0"
# Instructions of one connection, by task, mode and function.
FUNCTIONS = {
    ("nginx", "kernel", "tcp_ack"): 60_000,
    (POLL, "kernel", "tcp_v4_rcv"): 30_000,
    ("nginx", "user", "nginx"): 20_000,
    ("data-0", "user", "astf-engine"): 70_000,
}


def trial(
    system: str,
    number: int,
    round_number: int,
    more: int = 0,
    completed: int = CONNECTIONS,
    calls: int = 0,
) -> Trial:
    """`more`: instructions of a connection, in nf_hook_slow. `calls`: of writev, of all."""
    load = CountedLoad(offered_cps=500, connections=CONNECTIONS)
    load.client = client_counters(completed, 0)
    window = Window(10.0, 12.0)
    counts: Mapping[tuple[str, str, str], int] = FUNCTIONS | {
        ("nginx", "kernel", "nf_hook_slow"): more
    }
    found = {
        Where(task, "", mode, function): Count(CONNECTIONS * each, 0)
        for (task, mode, function), each in counts.items()
    }
    if calls:
        found[Where("nginx", "", "kernel", "__x64_sys_writev")] = Count(0, 0, calls)
    return Trial(
        system,
        number,
        round_number,
        load,
        phases={"sustain": window},
        samples=list(samples_of(found, {"nginx", POLL}, window)),
    )


def store_counted(
    root: Path,
    systems: Mapping[str, Sequence[int]],
    kernel: str = "6.1.0-56-amd64",
    processor: str = "Test <CPU>",
    calls: int = 0,
) -> RunFolder:
    """`systems`: by name, how many more instructions its connections have in each round.

    `kernel`: of the guest. `processor`: of the machine. `calls`: of writev in each trial.
    """
    run = RunFolder.create(root, "nginx_kernel")
    experiment = read_experiment(NGINX_KERNEL).as_counted().model_dump(mode="json")
    experiment |= {"servers": list(systems)}
    run.write_manifest(
        Manifest(
            run=run.name,
            state="complete",
            experiment=experiment,
            systems=[*map(System.of, systems)],
            machine=MACHINE | {"processors": MACHINE["processors"] | {"model": processor}},
            test_bed={name: {"counted": {"kernel": kernel}} for name in systems},
            servers={name: {"program": "nginx bc08ffbb8c8d"} for name in systems},
        )
    )
    turns = [(name, at, more) for name, each in systems.items() for at, more in enumerate(each)]
    for number, (name, at, more) in enumerate(turns, 1):
        run.add_trial(trial(name, number, at + 1, more, calls=calls))
    return run
