"""The sentence under a factor, the table of categories, flame graphs and folded stacks."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import numpy
import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import spread
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Level, Summary
from stackcost.contracts.trial import Trial
from stackcost.report import words
from stackcost.report.library import rows
from stackcost.report.plots.flame import differential_flame, flame
from stackcost.report.sampled import as_lines, folded_stacks, write_stacks
from stackcost.report.why import differences, why_sentences, why_table
from stackcost.store import Manifest, RunFolder
from tests.analysis.runs import CONTEXT, SYSTEMS
from tests.analysis.test_why import CALL, KNOWN, RECEIVES, SENDS, sampled
from tests.analysis.trials import counter, load_trial

STORED = Path(__file__).resolve().parents[1] / "fixtures" / "rounds" / "categories.json"
Categories = Mapping[str, tuple[float, float]]  # microseconds and their error
FILTERED = f"{RECEIVES};process_backlog;ip_rcv;nf_hook_slow;nft_do_chain"
PEER_SENDS = f"{CALL};__x64_sys_sendto;xsk_sendmsg;__dev_direct_xmit;veth_xmit"


def trials(rounds: int = 3, offered: float = 1000, busy: float = 40.0) -> list[Trial]:
    """A connection costs 100 us on nginx, and 40 us on a peer."""
    found: list[Trial] = []
    for number in range(1, rounds + 1):
        completed = round(10 * offered)
        nginx = load_trial("nginx/kernel", len(found) + 1, number, offered, completed=completed)
        found.append(sampled(nginx, KNOWN | {("NET_RX", FILTERED): 4}))
        costs = {"busy": busy, "sending": 30.0}
        peer = load_trial("astf-peer", len(found) + 1, number, offered, costs, completed)
        sampled(peer, {("user", "astf-engine;advance"): 900, ("system", PEER_SENDS): 300})
        of = {"role": "peer", "process": "7", "kind": "user"}
        peer.samples += counter("process.cpu_time", 1, of)
        found.append(peer)
    return found


@pytest.fixture(scope="module")
def made() -> Summary:
    return summarise(trials(), CONTEXT)


def test_the_sentence_says_what_the_difference_is_made_of(made: Summary) -> None:
    (told,) = why_sentences(made)
    assert told.startswith("Of the 60.0 us between nginx/kernel and astf-peer, ")
    assert "30.6 are netfilter" in told and "30 are copying" in told
    assert "the rest" not in told
    assert "astf-peer takes more in others: 30.0 of the device" in told


def test_the_largest_parts_are_named_and_marked_where_rounds_leave_them_open() -> None:
    made = trials(rounds=2)
    for at, trial in enumerate(made):
        if trial.server == "nginx/kernel":
            cost = {"user": 10.0, "system": 90.0, "irq": 0.0, "softirq": 0.0}
            made[at] = load_trial("nginx/kernel", trial.number, trial.round, microseconds=cost)
            copied = 9_000 if trial.round == 1 else 1_000  # of 10,000 samples
            stacks = {f"{SENDS};_copy_from_iter": copied, SENDS: 10_000 - copied}
            sampled(made[at], {("system", stack): count for stack, count in stacks.items()})
            sampled(made[at], {("user", "nginx;ngx_http_handler"): 1_111})
    (told,) = why_sentences(summarise(made, CONTEXT))
    assert "45.0 are copying and checksums (unsure), 45.0 are TCP (unsure); " in told


def test_what_is_in_no_category_explains_nothing() -> None:
    made = trials()
    for at, trial in enumerate(made):
        if trial.server == "nginx/kernel":
            cost = {"user": 0.0, "system": 100.0, "irq": 0.0, "softirq": 0.0}
            made[at] = load_trial("nginx/kernel", trial.number, trial.round, microseconds=cost)
            sampled(made[at], {("system", SENDS): 9_750, ("system", "unheard_of"): 250})
    found = summarise(made, CONTEXT)
    of_nginx = next(each for each in found.servers if each.name == "nginx/kernel").levels[0]
    assert of_nginx["why.in no category"].median == pytest.approx(2.5)
    (told,) = why_sentences(found)
    assert told.startswith("Of the 60.0 us") and "97.5 are TCP" in told
    assert "in no category" not in told


def test_the_sentence_is_of_the_load_of_its_factor() -> None:
    """A load may be the end of another one's text: "100" of "2,100 connections/s"."""
    loads = [*trials(offered=100, busy=80.0), *trials(offered=2100)]
    found = summarise(loads, CONTEXT)
    assert found.factors[0].at.startswith("2,100 connections/s")
    (told,) = why_sentences(found)
    assert told.startswith("Of the 60.0 us between nginx/kernel and astf-peer, ")


def test_a_difference_that_the_samples_leave_open_is_not_ranked() -> None:
    """100 of 220 samples are TCP here, and 110 there: 2 of 40 us, with an error of 2."""
    of = {"nginx/kernel": (120, 100), "astf-peer": (110, 110)}
    few = [
        sampled(
            load_trial(name, number, 1),
            {
                ("system", f"{SENDS};_copy_from_iter"): copied,
                ("system", SENDS): sent,
                ("user", "nginx;ngx_http_handler"): 55,
                ("NET_RX", FILTERED): 50,
            },
        )
        for number, (name, (copied, sent)) in enumerate(of.items(), 1)
    ]
    told = {row[0]: row for row in why_table(summarise(few, CONTEXT)).rows}
    assert told["TCP"][1:] == ("18.2", "20", "none seen")


def test_what_only_the_rounds_leave_open_is_shown_as_unsure() -> None:
    """One system takes twice as long as the other, and both so in the second round."""
    made: list[Trial] = []
    for number in (1, 2):
        for name, factor in zip(SYSTEMS, (2 * number, number), strict=True):
            costs = {"user": 10.0, "system": 40.0, "irq": 1.0, "softirq": 49.0}
            slowed = {kind: factor * cost for kind, cost in costs.items()}
            slow = load_trial(name, len(made) + 1, number, 1000, slowed, 10_000)
            made.append(sampled(slow, KNOWN | {("NET_RX", FILTERED): 4}))
    found = summarise(made, CONTEXT)
    (told,) = why_sentences(found)
    assert told.startswith("Of the 150 us between nginx/kernel and astf-peer, ")
    assert told.count("(unsure)") == told.count(" are ")
    rows = {row[0]: row for row in why_table(found).rows}
    assert rows["netfilter and connection tracking"][-1].startswith("unsure: ")


@pytest.mark.parametrize(("rounds", "noise"), [(1, 0.0), (2, 0.05)])
def test_two_sides_of_one_system_differ_no_more_often_than_their_errors_say(
    rounds: int, noise: float
) -> None:
    """Each round has a speed of its own, and each trial some noise beyond that of its samples."""
    random, seen, tries = numpy.random.default_rng(1), 0, 40
    functions = ("_copy_from_iter", "kfree", "tcp_write_xmit", "ip_output", "veth_xmit")
    for _ in range(tries):
        sides: list[Trial] = []
        for number in range(1, rounds + 1):
            speed = random.uniform(0.8, 1.2)
            for name in SYSTEMS:
                slowed = speed * (1 + noise * random.normal())
                costs = {"user": 10 * slowed, "system": 40 * slowed, "softirq": 49 * slowed}
                drawn = random.multinomial(random.poisson(400), (0.3, 0.3, 0.2, 0.1, 0.1))
                found = {
                    ("system", f"{CALL};__x64_sys_sendto;{function}"): int(times)
                    for function, times in zip(functions, drawn, strict=True)
                }
                found["user", "nginx;ngx_http_handler"] = int(random.poisson(100))
                found["NET_RX", f"{RECEIVES};process_backlog;tcp_v4_rcv"] = 50
                trial = load_trial(name, len(sides) + 1, number, 1000, {**costs, "irq": 1})
                sides.append(sampled(trial, found))
        above, below = (server.levels[0] for server in summarise(sides, CONTEXT).servers)
        every = differences(above, below)
        # Of one round its speed is not known.
        seen += sum(each.is_known for each in every if rounds > 1 or each.error)
    # 5 % of 240 are 12, with a deviation of 3.4.
    assert seen <= 22


def level(rounds: Sequence[Categories]) -> Level:
    """Stored rounds as those of one system."""
    figures = {}
    for name in {name for each in rounds for name in each}:
        of = [each.get(name, (0.0, 0.0)) for each in rounds]
        for at, figure in enumerate(("why", "why_error")):
            figures[f"{figure}.{name}"] = spread([both[at] for both in of], "us")
    return Level(offered_cps=1000, flagged_trials=0, figures=figures)


@pytest.mark.parametrize("number", [1, 2, 4, 6])
def test_real_rounds_of_one_system_differ_no_more_often_than_their_errors_say(number: int) -> None:
    """Each try takes so many pairs of rounds that followed each other, one of each for a side."""
    stored: list[Categories] = json.loads(STORED.read_text())["rounds"]
    pairs = list(zip(stored[::2], stored[1::2], strict=True))
    random, seen, asked = Random(1), 0, 0
    for _ in range(40):
        sides = [random.sample(pair, 2) for pair in random.sample(pairs, number)]
        above, below = (level(side) for side in zip(*sides, strict=True))
        every = differences(above, below)
        seen, asked = seen + sum(each.is_known for each in every), asked + len(every)
    print(f"{number} rounds: {seen} of {asked} categories differ")
    assert seen <= 0.05 * asked


def test_the_table_has_each_system_and_their_difference(made: Summary) -> None:
    table = why_table(made)
    assert table.columns == (
        "category",
        "nginx/kernel",
        "astf-peer",
        "difference, nginx/kernel : astf-peer",
    )
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["copying and checksums"] == ("30 (30-30)", "0", "30 (30-30)")


def test_the_rows_of_a_trial_add_up_to_its_cost() -> None:
    seen = Readings(trials(1)[0], (1,))
    found = list(rows.why("run", "nginx/kernel", seen))
    assert sum(row["us"] for row in found) == pytest.approx(99)
    assert {"system call sendto", "softirq NET_RX", "user space"} <= {r["behalf"] for r in found}


def test_folded_stacks_weigh_what_the_connection_cost(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "made")
    run.write_manifest(Manifest(run=run.name, experiment={"cores": {"server": [1]}}))
    for trial in trials(2):
        run.add_trial(trial)
    found = {load.system: stacks for load, stacks in folded_stacks(run).items()}
    assert sum(found["nginx/kernel"].values()) == pytest.approx(99)
    assert sum(found["astf-peer"].values()) == pytest.approx(40)
    assert f"system;{SENDS};_copy_from_iter 30000\n" in as_lines(found["nginx/kernel"])
    written = {path.name: path.read_text() for path in write_stacks(run, tmp_path / "stacks")}
    assert written["nginx-kernel-1000.folded"] == as_lines(found["nginx/kernel"])


def widths(svg: str) -> dict[str, float]:
    boxes = re.findall(r"<title>([^:<]*): .*?</title><rect [^>]*width=\"([\d.]+)\"", svg)
    return {name: float(width) for name, width in boxes}


def test_a_box_is_as_wide_as_its_time_and_no_text_of_a_run_is_markup() -> None:
    made = flame("words", {"user;a;b": 25.0, "user;a": 25.0, "system;<script>": 50.0})
    found = widths(made.svg)
    assert found["all"] == pytest.approx(1000, abs=1)
    assert found["a"] == pytest.approx(500, abs=1) and found["b"] == pytest.approx(250, abs=1)
    assert "<script" not in made.svg and "&lt;script" in made.svg


def test_a_differential_graph_says_both_times_and_is_red_where_the_first_takes_more() -> None:
    made = differential_flame("words", {"system;a": 30.0, "system;b": 1.0}, {"system;b": 4.0})
    assert "a: 30 us against 0 us, +30.00 us" in made.svg
    colours = dict(re.findall(r"<title>(\w+): .*?fill=\"#(\w+)\"", made.svg))
    assert colours["a"][:2] > colours["a"][4:] and colours["b"][:2] < colours["b"][4:]


def test_the_user_space_of_both_servers_is_one_row_and_the_kernel_beside_a_peer_another() -> None:
    made = trials()
    for trial in made:
        if trial.server == "astf-peer":
            of = {"cpu": "1", "process": "9", "thread": "9", "command": "napi/sc-server0-1"}
            spent = 5e-6 * trial.offered_cps * 10
            trial.samples += counter("task.time", spent, of | {"kind": "task"})
    found = summarise(made, CONTEXT)
    rows = {row[0]: row for row in why_table(found).rows}
    assert not any(name.startswith("user space,") for name in rows)
    assert all(cell not in ("0", "") for cell in rows["user space"][1:])
    assert rows["the kernel beside the peer"][1] == "0"
    (told,) = why_sentences(found)
    between = found.factors[0]
    assert between.baseline_cost.median and between.against_cost.median
    apart = between.baseline_cost.median - between.against_cost.median
    assert f"Of the {words.number(apart)} us between" in told, "the pair of the factor"
