"""The plugin as a user's pytest runs it, over simulated trials."""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import scipy.stats  # noqa: F401
import yaml

import stackcost.bed.lock as lock
from stackcost.contracts.errors import StackcostError
from stackcost.gate.figure import WHOLE_CORES
from stackcost.gate.gate import Gate
from stackcost.gate.measure import target_of

# Here, as is scipy, so that they are imported once: what is imported in a run inside of this
# process is undone, and a part of numpy cannot be imported again.
from tests.gate.simulated import Simulated

REPOSITORY = Path(__file__).resolve().parents[2]
MODULE = "stackcost.gate.plugin"
INSTALLED = any(point.value == MODULE for point in entry_points(group="pytest11"))
PLUGIN = () if INSTALLED else ("-p", MODULE)
TEST = """
def test_front_end(cps_ceiling):
    cps_ceiling("nginx_kernel.yaml"{figure}).{call}
"""
PLACE = """
import pytest
from pathlib import Path
import stackcost.bed.lock as lock
from tests.gate.simulated import Simulated

lock.state_folder = lambda: Path({folder!r})

@pytest.fixture(scope="session")
def stackcost_machine():
    return Simulated(**{settings!r})
"""
BASELINE = "not_below_baseline(tolerance=0.03)"


class User:
    """A user's folder with one test, and a machine of its own making."""

    def __init__(self, pytester: pytest.Pytester, patch: pytest.MonkeyPatch):
        self.pytester = pytester
        self._patch = patch
        self.baselines = pytester.path / "stackcost-gate"
        text = (REPOSITORY / "experiments" / "nginx_kernel.yaml").read_text()
        (pytester.path / "nginx_kernel.yaml").write_text(text.replace("../", f"{REPOSITORY}/"))
        pytester.makeini("[pytest]\naddopts = --strict-markers -p no:cacheprovider -rs")

    def run(
        self, *arguments: str, call: str = BASELINE, figure: str = "", **settings: object
    ) -> pytest.RunResult:
        """Run pytest on a test with this call; with xdist as a user does, in a process of its own,
        whose path its workers get.
        """
        folder = str(self.pytester.path)
        self.pytester.makeconftest(PLACE.format(folder=folder, settings=settings))
        self.pytester.makepyfile(test_cps=TEST.format(call=call, figure=figure))
        if {"-n1", "-n2"} & {*arguments}:
            return self.pytester.runpytest_subprocess(*PLUGIN, *arguments)
        return self.pytest(*arguments)

    def pytest(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process, without looking for other plugins, which takes a second."""
        with self._patch.context() as patch:
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            return self.pytester.runpytest_inprocess("-p", MODULE, *arguments)

    def history(self) -> list[dict[str, object]]:
        lines = (self.baselines / "history.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def user(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))  # for the workers of xdist
    monkeypatch.setattr(lock, "state_folder", lambda: pytester.path)
    return User(pytester, monkeypatch)


def test_the_entry_point_that_is_declared_is_the_plugin() -> None:
    declared = (REPOSITORY / "pyproject.toml").read_text()
    assert f'[project.entry-points.pytest11]\nstackcost = "{MODULE}"' in declared


def test_first_a_skip_then_a_baseline_that_holds_and_a_slower_server_fails(user: User) -> None:
    skipped = user.run()
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(
        [
            "*has no baseline for this machine (Processor A, 2 cores, 4 GiB)*",
            "stackcost: 1 had no baseline (nothing was judged)",
        ]
    )

    user.run("--stackcost-update-baseline").assert_outcomes(passed=1)
    (kept,) = user.baselines.glob("*.json")
    assert kept.name.startswith("nginx_kernel-nginx-kernel@")
    assert len(json.loads(kept.read_text())["trials"]) == 20

    for seed in (2, 3):
        holds = user.run(seed=seed)
        holds.assert_outcomes(passed=1)
        holds.stdout.fnmatch_lines(
            ["*the rate for whole cores holds: *tolerance 3.0%*", "stackcost: 1 held"]
        )

    slower = user.run(ceiling=6400.0, softirq_us=71.5, configuration="sendfile off;\n", seed=4)
    slower.assert_outcomes(failed=1)
    slower.stdout.fnmatch_lines(
        [
            "*BELOW the limit*-*% (-*% to -*%)*",
            "*wanted *[[]*]*",
            "*now *[[]*]*",
            "*+11.5  softirq (60.0 -> 71.5)*",
            "*+11.5  NET_RX (55.0 -> 66.5)*",
            "*server.configuration: +sendfile off;*",
        ]
    )
    assert "Traceback" not in slower.stdout.str() and "def test_" not in slower.stdout.str()
    outcomes = [line["outcome"] for line in user.history()]
    assert outcomes == ["baseline written", "holds", "holds", "below"]


def test_a_limit_near_the_ceiling_is_seen_by_a_gate_of_the_ceiling_alone(user: User) -> None:
    """A lock that ends what the server does at 0.7 of what CPU time would allow."""
    search = {"figure": ', figure="ceiling"', "real": 1.2}
    user.run("--stackcost-update-baseline").assert_outcomes(passed=1)
    user.run("--stackcost-update-baseline", **search).assert_outcomes(passed=1)
    assert sorted(path.name.partition("@")[0] for path in user.baselines.glob("*.json")) == [
        "nginx_kernel-nginx-kernel",
        "nginx_kernel-nginx-kernel-ceiling",
    ]
    user.run(real=0.7, seed=2).assert_outcomes(passed=1)
    limited = user.run(**search | {"real": 0.7, "seed": 2})
    limited.assert_outcomes(failed=1)
    limited.stdout.fnmatch_lines(["*the ceiling is BELOW the limit*9 searches*"])
    figures = [(line["figure"], line["outcome"], len(line["values"])) for line in user.history()]  # type: ignore[arg-type]
    assert figures == [
        ("rate for whole cores", "baseline written", 20),
        ("ceiling", "baseline written", 14),
        ("rate for whole cores", "holds", 6),
        ("ceiling", "below", 9),
    ]
    number = user.run(**search | {"call": "at_least(9000)"})
    number.assert_outcomes(passed=1)


def test_a_figure_that_there_is_not_is_named(user: User) -> None:
    user.run(figure=', figure="cps"').stdout.fnmatch_lines(
        ["*one of rate for whole cores, ceiling*"]
    )


def test_a_machine_that_disturbs_all_gets_no_baseline(user: User) -> None:
    done = user.run("--stackcost-update-baseline", "--stackcost-quick", foreign=0.3)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*no baseline was written*other programs used more than 10%*cost_ceiling*"]
    )
    assert not user.baselines.exists()


def test_another_machine_is_a_skip_that_names_both(user: User) -> None:
    user.run("--stackcost-update-baseline", "--stackcost-quick").assert_outcomes(passed=1)
    other = user.run(processor="Processor B")
    other.assert_outcomes(skipped=1)
    other.stdout.fnmatch_lines(["*for this machine (Processor B*for other machines: Processor A*"])
    user.run("--stackcost-update-baseline", processor="Processor B").assert_outcomes(passed=1)
    assert len(list(user.baselines.glob("*.json"))) == 2


def test_a_number_needs_no_baseline_and_wide_trials_are_skipped(user: User) -> None:
    user.run(call="at_least(7500)").assert_outcomes(passed=1)
    user.run(call="at_least(9000)").assert_outcomes(failed=1)
    wide = user.run(call="at_least(8000)", noise=0.1)
    wide.assert_outcomes(skipped=1)
    wide.stdout.fnmatch_lines(["*cannot tell*spread*too wide*"])


@pytest.mark.parametrize(("call", "used"), [(BASELINE, 6), ("at_least(7500)", 10)])
def test_history_has_the_trials_that_a_verdict_used_and_no_other(
    user: User, call: str, used: int
) -> None:
    """One of four trials is disturbed, so more are made than those that are judged."""
    user.run("--stackcost-update-baseline", disturbed=1).assert_outcomes(passed=1)
    user.run(call=call, disturbed=1, seed=2).assert_outcomes(passed=1)
    written, held = user.history()
    assert [len(line["values"]) for line in (written, held)] == [20, used]  # type: ignore[arg-type]


def junit(user: User) -> dict[str, str]:
    root = ElementTree.parse(user.pytester.path / "junit.xml")
    return {each.attrib["name"]: each.attrib["value"] for each in root.iter("property")}


def test_junit_has_the_verdict_the_rate_its_bounds_and_the_baseline(user: User) -> None:
    user.run("--junitxml=junit.xml").assert_outcomes(skipped=1)
    assert junit(user)["stackcost_outcome"] == "no baseline"
    assert not {"stackcost_cps", "stackcost_baseline"} & set(junit(user))
    user.run("--stackcost-update-baseline", "--junitxml=junit.xml").assert_outcomes(passed=1)
    (kept,) = user.baselines.glob("*.json")
    assert junit(user)["stackcost_baseline"] == kept.name
    user.run("--junitxml=junit.xml", seed=2).assert_outcomes(passed=1)
    found = junit(user)
    assert found["stackcost_outcome"] == "holds" and "holds:" in found["stackcost"]
    assert (
        found["stackcost_figure"] == WHOLE_CORES.title and found["stackcost_baseline"] == kept.name
    )
    assert 7900 < float(found["stackcost_cps"]) < 8100
    assert 7900 < float(found["stackcost_wanted_cps"]) < 8100
    low, ratio, high = (float(found[f"stackcost_ratio{each}"]) for each in ("_low", "", "_high"))
    assert low < ratio < high and float(found["stackcost_floor"]) == 0.97
    user.run("--junitxml=junit.xml", call="at_least(7500)").assert_outcomes(passed=1)
    assert junit(user)["stackcost_wanted_cps"] == "7500.0"
    assert "stackcost_baseline" not in junit(user)


def test_strict_fails_where_nothing_can_be_judged(user: User) -> None:
    none = user.run("--stackcost-strict")
    none.assert_outcomes(failed=1)
    none.stdout.fnmatch_lines(
        ["*has no baseline for this machine*", "stackcost: 1 had no baseline (nothing was judged)"]
    )
    assert none.ret == pytest.ExitCode.TESTS_FAILED
    wide = {"call": "at_least(8000)", "noise": 0.1}
    unsure = user.run("--stackcost-strict", **wide)  # type: ignore[arg-type]
    unsure.assert_outcomes(failed=1)
    unsure.stdout.fnmatch_lines(["*cannot tell*", "*All readings: *", "stackcost: 1 could not*"])
    user.run("--stackcost-strict", call="at_least(7500)").assert_outcomes(passed=1)
    disturbed = user.run("--stackcost-strict", "--stackcost-update-baseline", foreign=0.3)
    disturbed.assert_outcomes(failed=1)
    done = user.run("--stackcost-strict", "--stackcost-update-baseline")
    done.assert_outcomes(passed=1)
    assert done.ret == pytest.ExitCode.OK


def test_one_line_counts_all_outcomes(user: User) -> None:
    more = {
        "held": "at_least(7500)",
        "fell": "at_least(9000)",
        "unknown": BASELINE,
        "marked": "at_least(1)",
    }
    for name, call in more.items():
        text = TEST.format(call=call, figure="").replace("front_end", name)
        text = text.replace("def ", "import pytest\n\n@pytest.mark.skip\ndef ", name == "marked")
        user.pytester.makepyfile(**{f"test_{name}": text})
    done = user.run(call="at_least(7500)")
    done.assert_outcomes(passed=2, failed=1, skipped=2)
    line = "stackcost: 2 held, 1 fell, 1 had no baseline, 1 not run"
    done.stdout.fnmatch_lines([line])


@pytest.mark.parametrize("select", [("-k", "other"), ()])
def test_a_strict_run_that_judged_nothing_is_not_green(user: User, select: tuple[str, ...]) -> None:
    """No gate among the selected tests, or gates that a marker leaves out."""
    user.pytester.makepyfile(test_other="def test_other(): pass")
    leave_out = "import pytest\npytestmark = pytest.mark.skip\n"
    user.pytester.makepyfile(test_cps=leave_out + TEST.format(call=BASELINE, figure=""))
    user.pytester.makeconftest("")
    assert user.pytest(*select).ret == pytest.ExitCode.OK
    assert user.pytest(*select, "--stackcost-strict", "--collect-only").ret == pytest.ExitCode.OK
    strict = user.pytest(*select, "--stackcost-strict")
    assert strict.ret == pytest.ExitCode.TESTS_FAILED
    strict.stdout.fnmatch_lines(["stackcost: *(nothing was judged)"])


def test_a_run_without_gates_says_nothing_of_them(user: User) -> None:
    user.pytester.makepyfile(test_other="def test_other(): pass")
    done = user.pytest()
    assert done.ret == pytest.ExitCode.OK
    assert "= stackcost =" not in done.stdout.str() and "stackcost: " not in done.stdout.str()


def test_the_workflow_for_ci_is_strict_and_names_options_that_there_are(user: User) -> None:
    text = (REPOSITORY / "examples" / "rates-workflow.yml").read_text()
    known = user.pytest("--help").stdout.str()
    named = set(re.findall(r"--stackcost-[a-z-]+", text))
    assert "--stackcost-strict" in named and all(each in known for each in named)
    (job,) = yaml.safe_load(text)["jobs"].values()
    assert job["runs-on"][0] == "self-hosted"
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert not any("|| true" in run for run in runs)


def test_what_is_wrong_is_one_message(user: User) -> None:
    (user.pytester.path / "nginx_kernel.yaml").write_text("title: [")
    wrong = user.run()
    wrong.assert_outcomes(failed=1)
    wrong.stdout.fnmatch_lines(["*nginx_kernel.yaml line *not YAML*"])
    assert "Traceback" not in wrong.stdout.str() and "exception" not in wrong.stdout.str()


def test_gates_that_end_in_an_error_are_counted_with_the_others(user: User) -> None:
    (user.pytester.path / "broken.yaml").write_text("title: [")
    gone = TEST.format(call="at_least(7500)", figure="").replace("nginx_kernel.yaml", "gone.yaml")
    user.pytester.makepyfile(test_gone=gone)
    two = user.run(call="at_least(7500)")
    two.assert_outcomes(passed=1, failed=1)
    two.stdout.fnmatch_lines(["*gone.yaml*", "stackcost: 1 held, 1 error"])
    user.pytester.makepyfile(test_broken=gone.replace("gone", "broken"))
    user.run(call="at_least(7500)").stdout.fnmatch_lines(
        ["*broken.yaml line *not YAML*", "stackcost: 1 held, 2 errors"]
    )


def test_a_built_in_experiment_is_found_by_its_name_and_a_missing_one_has_the_nearest(
    user: User,
) -> None:
    """The example of a gate could run in this checkout alone."""
    (user.pytester.path / "nginx_kernel.yaml").unlink()
    example = (REPOSITORY / "examples/test_rates.py").read_text()
    user.pytester.makeconftest(PLACE.format(folder=str(user.pytester.path), settings={}))
    user.pytester.makepyfile(test_example=example)
    user.pytest("test_example.py", "-k", "thousand").assert_outcomes(passed=1)
    user.pytester.makepyfile(test_example=example.replace("nginx_kernel", "nginx_kernl"))
    wrong = user.pytest("test_example.py", "-k", "thousand")
    wrong.stdout.fnmatch_lines(["*there is no experiment file *; did you mean nginx_kernel*"])


def test_an_error_while_it_measures_is_counted(user: User) -> None:
    wrong = user.run(call="at_least(7500)", fails="no test bed can be made")
    wrong.assert_outcomes(failed=1)
    wrong.stdout.fnmatch_lines(
        ["no test bed can be made", "stackcost: 1 error (nothing was judged)"]
    )


def gate(folder: Path, say: Callable[[str], None]) -> Gate:
    target = target_of(REPOSITORY / "experiments" / "nginx_kernel.yaml")
    machine = Simulated(place=str(folder / "run"))
    of = "nginx_kernel", target, WHOLE_CORES, machine, folder, WHOLE_CORES.quick
    return Gate(*of, "test", say)


def test_a_gate_waits_for_a_run_that_is_active_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "state_folder", lambda: tmp_path)
    said: list[str] = []
    with ExitStack() as other:
        other.enter_context(lock.locked_file(tmp_path / "lock", "another run"))

        def say(line: str) -> None:
            said.append(line)
            other.close()

        assert gate(tmp_path, say).at_least(7500).outcome == "holds"
    assert "waiting for at most an hour: another run is active" in said[0]
    assert "measuring" in said[1]


def test_no_other_error_is_taken_for_an_active_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Path:
        raise StackcostError("the folder for locks cannot be made")

    monkeypatch.setattr(lock, "state_folder", broken)
    said: list[str] = []
    with pytest.raises(StackcostError, match="cannot be made"):
        gate(tmp_path, said.append).at_least(7500)
    assert not said


def test_a_worker_of_xdist_says_that_it_measures(user: User) -> None:
    done = user.run("-n1", call="at_least(7500)")
    done.assert_outcomes(passed=1)
    done.stderr.fnmatch_lines(["stackcost: nginx/kernel: measuring, verdict after *"])
    done.stdout.fnmatch_lines(["stackcost: 1 held"])


@pytest.mark.long
def test_workers_of_xdist_measure_one_after_the_other(user: User) -> None:
    log = user.pytester.path / "uses"
    user.pytester.makepyfile(
        test_more="\n".join(
            TEST.format(call="at_least(7500)", figure="").replace(
                "test_front_end", f"test_{number}"
            )
            for number in range(3)
        )
    )
    settings = {"call": "at_least(7500)", "log": str(log)}
    user.pytester.makeconftest("")
    done = user.run("-n2", "-m", "stackcost", **settings)  # type: ignore[arg-type]
    done.assert_outcomes(passed=4)
    assert log.read_text().split() == ["begin", "end"] * 4
