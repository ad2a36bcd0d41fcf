"""What an experiment may say of HTTP clients, what `auto` becomes, which concurrency is found."""

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest

from stackcost.clients.http3 import Http3Client
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.auto import doublings, halves, resolve_auto
from stackcost.experiment.http_schema import Concurrency
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.host.cores import CpuPlace, allowed_cores, harness_on, place_of
from stackcost.runs.comparison import plan
from stackcost.runs.loads.http import find_concurrency
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import server_settings

Caddy = server_class("caddy/kernel")
NginxKernel = server_class("nginx/kernel")

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
COOKBOOK = EXPERIMENTS / "nginx_cookbook.yaml"


def edited(folder: Path, old: str, new: str) -> Path:
    text = COOKBOOK.read_text()
    assert old in text
    path = folder / "edited.yaml"
    path.write_text(text.replace(old, new))
    return path


def test_doublings_end_with_all() -> None:
    assert doublings(1) == [1] and doublings(6) == [1, 2, 4, 6] and doublings(8) == [1, 2, 4, 8]


def test_auto_is_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackcost.experiment.auto.allowed_cores", lambda: list(range(12)))
    found = resolve_auto(
        {
            "cores": "auto",
            "matrix": {"workers": "auto", "cores": [1, 3]},
            "http": {"processes": "auto"},
        }
    )
    assert found["cores"] == {"load": [0, 1, 2, 3, 4, 5], "server": [6, 7, 8, 9, 10, 11]}
    assert found["matrix"] == {"workers": [1, 2, 4, 6], "cores": [1, 3]}
    assert found["http"] == {"processes": 6}


@pytest.mark.parametrize(
    ("cores", "found"),
    [
        (2, [1]),
        (8, [1, 2, 3, 4]),
        (12, [1, 2, 3, 4, 5, 6]),
        (48, [1, 2, 3, 4, 5, 6, 8, 10, 12, 24]),
    ],
)
def test_the_white_papers_cores_are_the_default_as_far_as_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, found: list[int]
) -> None:
    monkeypatch.setattr("stackcost.experiment.auto.allowed_cores", lambda: list(range(cores)))
    monkeypatch.setattr(
        "stackcost.experiment.auto.place_of", lambda cpu: CpuPlace(node=0, core=cpu, thread=0)
    )
    paper = read_experiment(EXPERIMENTS / "openonload_whitepaper.yaml")
    assert paper.matrix.cores == found
    workers = read_experiment(EXPERIMENTS / "haproxy_cookbook.yaml").matrix.workers
    assert workers == [each for each in (2, 8, 16) if each < cores // 2] + [cores // 2]


@pytest.mark.parametrize(
    ("siblings", "nodes", "load", "server"),
    [
        ("0,4 1,5 2,6 3,7", "0 0 0 0", [0, 1, 4, 5], [2, 3, 6, 7]),
        ("0,1 2,3 4,5 6,7", "0 0 0 0", [0, 2, 1, 3], [4, 6, 5, 7]),
        ("0,1 2,3 4,5 6,7", "0 1 0 1", [0, 4, 1, 5], [2, 6, 3, 7]),
        ("0,1", "0", [0], [1]),
    ],
    ids=["threads apart", "threads beside", "two nodes", "one core"],
)
def test_halves_share_no_physical_core(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    siblings: str,
    nodes: str,
    load: list[int],
    server: list[int],
) -> None:
    """As the kernel lists a core's threads and a CPU's node below /sys/devices/system/cpu."""
    for threads, node in zip(siblings.split(), nodes.split(), strict=True):
        for cpu in threads.split(","):
            folder = tmp_path / f"cpu{cpu}"
            (folder / "topology").mkdir(parents=True)
            (folder / f"node{node}").mkdir()
            (folder / "topology/thread_siblings_list").write_text(f"{threads}\n")
    monkeypatch.setattr("stackcost.experiment.auto.place_of", partial(place_of, system=tmp_path))
    assert halves(sorted(load + server)) == (load, server)


def test_auto_is_of_the_machine_also_where_a_bed_keeps_this_process_to_one_core() -> None:
    with harness_on([0]):
        assert resolve_auto({"cores": "auto"})["cores"]["server"], "there is another core"


def test_shared_cores_are_all_of_them_for_both_and_for_programs_alone(tmp_path: Path) -> None:
    shared = read_experiment(COOKBOOK, share_cores=True)
    here = allowed_cores()
    assert shared.cores.load == shared.cores.server == here and shared.cores.common == here
    assert shared.matrix.workers[-1] == len(here)
    assert all(each.experiment.cores.common for each in variants(shared))
    with pytest.raises(StackcostError, match="only HTTP clients"):
        read_experiment(EXPERIMENTS / "nginx_kernel.yaml", share_cores=True)
    with pytest.raises(StackcostError, match=r"would use cores \[0\]"):
        read_experiment(edited(tmp_path, "cores: auto", "cores: {load: [0], server: [0]}"))


def test_the_cookbook_has_every_test_of_its_tables_for_every_system() -> None:
    experiment = read_experiment(COOKBOOK)
    measured = [each for each in variants(experiment) if not each.lacking]
    trials = [trial for turn in plan(experiment) for trial in turn.trials]
    assert experiment.http is not None
    assert len(trials) == experiment.rounds * len(measured) * len(experiment.http.tests)
    assert {"tps", "tps-tls", "rps-0k", "rps-100k", "thr-100m"} <= {
        trial.load.test for trial in trials
    }
    lacking = [each for each in variants(experiment) if each.lacking]
    assert all("onload" in each.name for each in lacking)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("program: wrk", "program: curl", "program"),
        ("name: tps-tls", "name: tps", "two tests have the same name"),
        (
            "body_bytes: 1000 }",
            "body_bytes: 1000, rates: [100] }",
            "wrk cannot send at a rate, but h2load",
        ),
        (
            "body_bytes: 0, tls: true }",
            "body_bytes: 0, tls: true, version: 2 }",
            "wrk speaks HTTP/1.1 only",
        ),
        (
            "body_bytes: 1000 }",
            "body_bytes: 1000, version: 2, program: h2load }",
            "HTTP/2 needs tls: true",
        ),
        (
            "body_bytes: 1000 }",
            "body_bytes: 1000, streams: 2, program: h2load }",
            "HTTP/1.1 has one request at a time",
        ),
        (
            "body_bytes: 0, tls: true }",
            "body_bytes: 0, tls: true, resumed: true, program: ab }",
            "only new connections of wrk over TLS resume a session",
        ),
        ("program: wrk\n", "program: ab\n  x: 1\n", "http.x"),
        ("measures: connections, body_bytes: 0 }", "body_bytes: 0 }", "measures"),
        ("http:\n  program: wrk", "load: {profile: x.py}\nhttp:\n  program: wrk", "load.warm_up_s"),
    ],
)
def test_what_is_wrong_is_reported(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(StackcostError, match=told):
        read_experiment(edited(tmp_path, old, new))


def test_a_test_that_a_system_cannot_make_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    experiment = read_experiment(EXPERIMENTS / "http_versions.yaml")
    monkeypatch.setattr(Http3Client, "lacks", lambda self: "")
    monkeypatch.setattr(Caddy, "lacks", lambda: "")
    nginx, haproxy, _, caddy, _ = variants(experiment)
    # Debian 12's are built without it; Debian 13's could, but are not configured for it here.
    for variant, test, built in (
        (nginx, "new-3", "nginx -V has no http_v3_module"),
        (haproxy, "kept-3", "haproxy -vv has -QUIC"),
    ):
        why = variant.lacking_tests[test]
        assert built in why or "does not listen for HTTP/3" in why
    assert not caddy.lacking_tests and not caddy.lacking
    made = {trial.load.test for turn in plan(experiment) if "nginx" in turn.variant.name
            for trial in turn.trials}  # fmt: skip
    assert {"new-1.1", "new-2", "kept-2"} <= made and not {"new-3", "kept-3", "open-3"} & made
    monkeypatch.setattr(Http3Client, "lacks", lambda self: "it is not installed")
    assert variants(experiment)[3].lacking_tests["kept-3"] == "it is not installed"


def test_a_certificate_is_an_axis_of_the_matrix() -> None:
    experiment = read_experiment(EXPERIMENTS / "tls.yaml")
    by_name = {each.name: each.experiment.server.certificate for each in variants(experiment)}
    assert by_name["nginx/kernel:rsa-2048"] == "rsa-2048"
    assert by_name["lighttpd-nss/kernel:p-256"] == "p-256"
    assert server_settings(experiment, NginxKernel).resumption_port == 444


@pytest.mark.parametrize("name", ["tls", "http_versions", "user_stacks"])
def test_the_quick_form_of_each_takes_less_than_five_minutes(name: str) -> None:
    experiment = read_experiment(EXPERIMENTS / f"{name}.yaml", quick=True)
    assert sum(sum(turn.seconds.values()) for turn in plan(experiment)) < 280, (
        "the report takes the rest"
    )


def test_either_profiles_or_http(tmp_path: Path) -> None:
    text = COOKBOOK.read_text()
    path = tmp_path / "none.yaml"
    path.write_text(text[: text.index("http:")])
    with pytest.raises(StackcostError, match="it needs one kind of load"):
        read_experiment(path)


def find(settings: Concurrency, holds: Callable[[int], bool]) -> int:
    """The search as a run goes through it: each trial's result is sent back."""

    def ask(count: int) -> Generator[int, bool, bool]:
        return (yield count)

    steps = find_concurrency(settings, ask)
    try:
        count = next(steps)
        while True:
            count = steps.send(holds(count))
    except StopIteration as end:
        found: int = end.value
        return found


@pytest.mark.parametrize("limit", [9, 70, 512, 513, 2047, 3000])
def test_the_highest_that_holds_is_found_to_a_fraction(limit: int) -> None:
    tried: list[int] = []

    def holds(count: int) -> bool:
        tried.append(count)
        return count <= limit

    settings = Concurrency(p99_below_ms=1000, first=64, most=16_384, steps=3, trial_s=1)
    found = find(settings, holds)
    assert limit / 2 ** (1 / 8) <= found + 1 and found <= limit
    assert len(tried) == len(set(tried)) <= 12


def test_never_more_than_the_most_and_one_when_none_holds() -> None:
    settings = Concurrency(p99_below_ms=1000, first=100, most=350, trial_s=1)
    assert find(settings, lambda count: True) == 350
    assert find(settings, lambda count: False) == 1
