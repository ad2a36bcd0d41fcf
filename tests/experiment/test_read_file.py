from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.system import System, pairs
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import experiment_file, read_experiment
from stackcost.experiment.schema import Experiment

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"


def edited(folder: Path, *changes: tuple[str, str]) -> Path:
    """compare.yaml with some text replaced, its profiles beside it."""
    text = COMPARE.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "experiment.yaml"
    path.write_text(text.replace("../", f"{COMPARE.parents[1]}/"))
    return path


def line_of(path: Path, text: str) -> int:
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def test_the_shipped_experiment_is_the_published_bed() -> None:
    experiment = read_experiment(COMPARE)
    workload = experiment.workload
    assert (workload.request_bytes, workload.response_bytes) == (100, 32_000)
    assert (workload.clients, str(workload.server)) == ("16.0.0.1-16.0.0.200", "48.0.0.1")
    assert str(workload.client_network) == "16.0.0.0/24"
    assert experiment.load.profile.is_absolute() and experiment.load.profile.is_file()


def test_quick_replaces_only_what_it_names() -> None:
    full, quick = read_experiment(COMPARE), read_experiment(COMPARE, quick=True)
    assert quick.rounds < full.rounds
    assert quick.load.offered_shares == full.load.offered_shares == [0.25, 0.5, 0.75]
    assert quick.load.drain_s == full.load.drain_s
    assert quick.workload == full.workload


@pytest.mark.parametrize(
    ("old", "new", "at", "says"),
    [
        ("rounds: 4", "rounds: many", "rounds: many", "rounds: Input should be a valid integer"),
        (
            "rounds: 4",
            "ruonds: 4",
            "ruonds: 4",
            "ruonds: there is no such key; did you mean rounds?",
        ),
        ("  warm_up_s: 2\n", "", "load: #", "load.warm_up_s: Field required"),
        ("0.5, 0.75]", "-5]", "-5]", "load.offered_shares.1: Input should be greater"),
        (
            "  warm_up_s: 2\n",
            "  warm_up_s: 2\n  offered_cps: [9]\n",
            "load: #",
            "both offered_cps and offered_shares; set one",
        ),
        (
            "[0, 2000, 5000, 10000, 15000]",
            "[0, 9, 5]",
            "[0, 9, 5]",
            "the numbers must be ascending",
        ),
        (
            "servers: [nginx/kernel,",
            "servers: [apache,",
            "[apache,",
            "servers.0: there is no server",
        ),
        (
            "servers: [nginx/kernel,",
            "servers: [dut/forwardin,",
            "[dut/forwardin,",
            "there is no server 'dut/forwardin'; did you mean dut/forwarding",
        ),
        (
            "    sustain_s: 3",
            "    sustain: 3",
            "sustain: 3",
            "no such key; did you mean sustain_s?",
        ),
        ("16.0.0.1-16.0.0.200", "16.0.0.9-16.0.0.1", "16.0.0.9-", "first address of the range"),
        ("    sustain_s: 3", "    sustain_s: 0", "sustain_s: 0", "load.sustain_s: Input should"),
        ("http_hold.py", "http_gone.py", None, "there is no file"),
        ("rounds: 4", "rounds: [4", "server:", "not YAML"),
    ],
)
def test_a_fault_names_file_line_and_key(
    tmp_path: Path, old: str, new: str, at: str | None, says: str
) -> None:
    if at == "load: #":
        path = edited(tmp_path, (old, new), ("\nload:\n", "\nload: # here\n"))
    else:
        path = edited(tmp_path, (old, new))
    with pytest.raises(StackcostError) as caught:
        read_experiment(path)
    assert says in caught.value.what
    assert str(path) in caught.value.what
    if at and says != "not YAML":
        assert f"line {line_of(path, at)}:" in caught.value.what


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    path = edited(tmp_path, ("rounds: 4", "rounds: 0"), ("request_bytes: 100", "request_bytes: 1"))
    with pytest.raises(StackcostError) as caught:
        read_experiment(path)
    assert len(caught.value.what.splitlines()) == 2


@pytest.mark.parametrize("text", ["", "just words", "- a\n- list\n"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(text)
    with pytest.raises(StackcostError, match="a mapping"):
        read_experiment(path)


def test_a_missing_or_binary_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match=r"cannot read the experiment .*/none\.yaml: No such"):
        read_experiment(tmp_path / "none.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StackcostError, match="UTF-8"):
        read_experiment(tmp_path / "b.yaml")


def test_open_flows_must_fit_into_nginx(tmp_path: Path) -> None:
    path = edited(tmp_path, ("worker_connections: 32768", "worker_connections: 8192"))
    with pytest.raises(
        StackcostError, match="15000 open flows need more than the 8192 connections"
    ):
        read_experiment(path)


def test_the_client_network_holds_every_client() -> None:
    workload = read_experiment(COMPARE).workload
    wide = workload.model_copy(update={"clients": "16.0.0.250-16.0.1.9"})
    assert str(wide.client_network) == "16.0.0.0/23"
    assert Experiment.model_fields["workload"].is_required()


def test_an_experiment_of_the_suite_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert experiment_file(Path("compare")).resolve() == COMPARE
    Path("compare").write_text("")
    assert experiment_file(Path("compare")) == Path("compare"), "the reader's own file comes first"
    for named in ("nosuch", "folder/compare", str(tmp_path / "compare.yaml")):
        with pytest.raises(StackcostError) as told:
            experiment_file(Path(named))
        assert named in told.value.what and "the name of one in " in told.value.hint


def test_one_system_needs_nothing_to_be_compared_with(tmp_path: Path) -> None:
    none = (("baseline: nginx/kernel", "#"), ("against: astf-peer", "#"))
    with pytest.raises(StackcostError, match="name two of: nginx/kernel, astf-peer"):
        read_experiment(edited(tmp_path, *none))
    one = ("servers: [nginx/kernel, astf-peer]", "servers: [nginx/kernel]")
    alone = read_experiment(edited(tmp_path, *none, one))
    systems = [each.system for each in variants(alone)]
    assert (
        systems == [System.of("nginx/kernel")]
        and pairs(systems, alone.baseline, alone.against) == ()
    )
