"""What a connection takes of the cores, by kind, thread and side."""

from dataclasses import replace

import pytest

from stackcost.analysis.cost import breakdown, core_time, cpu, flows, http
from stackcost.analysis.cost.core_time import core_seconds
from stackcost.analysis.cost.cpu import backend_cost, server_total
from stackcost.analysis.cost.user_share import divided
from stackcost.analysis.memory.memory import components
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import core_shares, summarise
from stackcost.collect.cpu_account import TOO_MANY
from stackcost.contracts.load import HttpClients
from stackcost.contracts.metrics import IDLE_TASK, POLL_ROLE, TASK_TIME
from stackcost.contracts.trial import Trial
from stackcost.report.http_figures import series
from tests.analysis.http_trials import asked, summary
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import (
    END,
    START,
    add_backend,
    add_other_program,
    counter,
    gauge,
    hold_trial,
    load_trial,
    move_time,
    slow_slices,
    tenths,
)


def test_kernel_server_cost_by_kind_takes_exact_times_and_the_ratio_of_ticks() -> None:
    seen = Readings(
        load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49}), (1,)
    )
    cost = cpu.server_cost(seen)
    assert cost == pytest.approx({"user": 10, "system": 40, "irq": 1, "softirq": 49})
    assert cpu.server_total(seen) == pytest.approx(100)
    assert cpu.kernel_cost_on_polling_cores(seen) == {}


def test_time_is_divided_as_in_the_warm_up_where_that_was_read() -> None:
    trial = load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49})
    for name, number in (("process", "7"), ("process", "99"), ("cpu", "1")):
        for kind, seconds in (("user", 0.03), ("system", 0.01 if number == "7" else 0.09)):
            metric = "task.traced_time" if name == "process" else "cpu.traced_time"
            trial.samples += gauge(metric, [seconds], {name: number, "kind": kind})
    seen = Readings(trial, (1,))
    assert divided(seen, 1.0, ["7"]) == (pytest.approx(0.75), pytest.approx(0.25))
    assert divided(seen, 1.0, ["8"]) == (None, None)
    cost = cpu.server_cost(seen)
    assert (cost["user"], cost["system"]) == (pytest.approx(37.5), pytest.approx(12.5))
    core = core_time.core_seconds(seen, 1)
    assert core is not None and core.user == pytest.approx(0.5 * 0.25)


def test_time_of_which_nothing_says_how_it_divides_is_unknown_whoever_took_it() -> None:
    """No tick was all system time of a core or a server, and unknown of a server behind a device.

    What took no time took none in either mode.
    """
    trial = load_trial()
    add_backend(trial, 30.0, 1.0, 10_000, cpu="1")
    ticks = ("cpu.time", "process.cpu_time", "backend.cpu_time")
    trial.samples = [s._replace(value=5.0) if s.metric in ticks else s for s in trial.samples]
    seen = Readings(trial, (1,))
    core = core_seconds(seen, 1)
    assert core is not None and (core.user, core.system) == (None, None)
    for cost in (cpu.server_cost(seen), backend_cost(seen)):
        assert (cost["user"], cost["system"]) == (None, None)
    idle = Readings(load_trial(microseconds={"user": 0, "softirq": 10}), (1,))
    assert divided(idle, 0.0) == (0.0, 0.0) and divided(idle, None) == (None, None)


def test_a_thread_of_a_client_that_first_ran_in_the_window_is_in_its_cost() -> None:
    trial = asked("wrk", 50, "mix", 0, 1000)
    trial.load_of(HttpClients).processes = [42]
    for thread, seconds in (("42", 0.5), ("43", 0.25)):
        labels = {"cpu": "0", "process": "42", "thread": thread, "command": "wrk", "kind": "task"}
        every = counter("task.time", seconds, labels, first=0.0)
        trial.samples += [each for each in every if thread == "42" or each.time >= END]
    labels = {"process": "42", "kind": "user"}
    trial.samples += gauge("task.traced_time", [1.0], labels)
    trial.samples += gauge("task.traced_time", [0.0], labels | {"kind": "system"})
    cost = http.client_cost(Readings(trial, (1,)).on([0]))
    assert cost["user"] == pytest.approx(75)


def test_a_device_without_a_program_has_no_time_in_user_mode_and_a_cost() -> None:
    trial = load_trial("dut/forwarding", microseconds={"irq": 1, "softirq": 9})
    trial.samples = [each for each in trial.samples if each.metric != "process.cpu_time"]
    thread = {"role": f"{POLL_ROLE}-0", "process": "9"}
    for kind in ("user", "system"):
        trial.samples += counter("process.cpu_time", 0.0, {**thread, "kind": kind})
    poll = {"cpu": "1", "process": "9", "thread": "9", "command": "napi/sc-dut0", "kind": "task"}
    trial.samples += counter("task.time", 0.05, poll)
    seen = Readings(trial, (1,))
    assert cpu.server_cost(seen) == pytest.approx({"user": 0, "system": 5, "irq": 1, "softirq": 9})
    assert cpu.server_total(seen) == pytest.approx(15) and not cpu.why_no_cost(seen)


def test_polling_peer_costs_its_busy_time_and_the_kernels_work_on_its_cores() -> None:
    trial = load_trial("astf-peer", microseconds={"busy": 12, "softirq": 3})
    poll = {"cpu": "1", "process": "9", "thread": "9", "command": "napi/sc-server0", "kind": "task"}
    trial.samples += counter("task.time", 0.05, poll)
    seen = Readings(trial, (1,))
    assert cpu.server_cost(seen) == pytest.approx({"busy": 12})
    assert cpu.server_total(seen) == cpu.uncorrected_total(seen) == pytest.approx(12 + 3 + 5)
    assert core_time.engine_busy_share(seen, "peer") == pytest.approx(0.012)
    assert cpu.kernel_cost_on_polling_cores(seen) == pytest.approx(
        {"softirq": 3, "receive polls": 5}
    )


@pytest.mark.parametrize("parts", [{"sending": 9}, {"copying": 4, "sending": 5}])
def test_what_a_peer_hands_to_the_kernel_and_copies_is_no_part_of_its_stack(
    parts: dict[str, float],
) -> None:
    seen = Readings(load_trial("astf-peer", microseconds={"busy": 12, **parts}), (1,))
    assert cpu.server_cost(seen) == pytest.approx({"stack": 3, **parts})
    assert cpu.server_total(seen) == pytest.approx(12)


def test_cost_is_of_the_time_in_which_nothing_slowed_the_cores_each_kind_by_itself() -> None:
    """In 4 of 10 s a neighbour makes softirqs twice as long; tasks wait for a clock instead."""
    trial = load_trial(microseconds={"user": 20, "system": 20, "irq": 0, "softirq": 70})
    slow = [tenth < 40 for tenth in range(100)]
    lengths = [0.01 if each else 0.005 for each in slow]  # 50 us each where it is not
    softirq = {"cpu": "1", "kind": "softirq"}
    trial.samples = [s for s in trial.samples if s.labels != softirq]
    trial.samples += tenths("cpu.exact_time", lengths, softirq)
    slow_slices(trial, slow)
    seen = Readings(trial, (1,))
    wanted = {"user": 20, "system": 20, "irq": 0, "softirq": 50}
    assert cpu.server_cost(seen) == pytest.approx(wanted)
    assert cpu.server_total(seen) == pytest.approx(90)
    # It did not keep up, so what it completed in which slice is unknown.
    trial.load.offered_cps *= 1.2
    assert cpu.server_cost(Readings(trial, [1]))["softirq"] == pytest.approx(70)


def test_a_polling_peers_cost_is_of_that_time_too() -> None:
    trial = load_trial("astf-peer", microseconds={"busy": 14, "copying": 0, "sending": 9})
    labels = {"engine": "peer", "core": "0", "cpu": "1"}
    trial.samples = [s for s in trial.samples if s.metric != "engine.busy_time"]
    slow = [tenth < 40 for tenth in range(100)]
    trial.samples += tenths("engine.busy_time", [0.002 if s else 0.001 for s in slow], labels)
    parts = {"engine.sending_time": 0.0009, "engine.copying_time": 0.00005}
    trial.samples = [s for s in trial.samples if s.metric not in parts]
    for metric, spent in parts.items():
        trial.samples += tenths(metric, [spent] * 100, labels)
    softirq = {"cpu": "1", "kind": "softirq"}
    trial.samples = [s for s in trial.samples if s.labels != softirq]
    trial.samples += tenths("cpu.exact_time", [0.008 if s else 0.004 for s in slow], softirq)
    slow_slices(trial, slow)
    seen = Readings(trial, [1])
    assert cpu.server_cost(seen) == pytest.approx({"stack": 0.5, "copying": 0.5, "sending": 9})
    kernel = {"softirq": 40, "receive polls": 0}
    assert cpu.kernel_cost_on_polling_cores(seen) == pytest.approx(kernel)
    assert cpu.server_total(seen) == pytest.approx(10 + 40)
    assert cpu.uncorrected_total(seen) == pytest.approx(14 + 56)


@pytest.mark.parametrize("lost_from", [START - 1, END])
def test_a_peer_whose_threads_are_not_known_has_no_total_and_the_reason(lost_from: float) -> None:
    """Its polls were 0 us of a judged total: no thread was taken for none that ran."""
    trial = load_trial("astf-peer", microseconds={"busy": 12, "softirq": 3})
    trial.samples = [s for s in trial.samples if s.metric != "task.time" or s.time < lost_from]
    trial.samples.append(TASK_TIME.unknown(lost_from, TOO_MANY))
    seen = Readings(trial, (1,))
    kernel = cpu.kernel_cost_on_polling_cores(seen)
    assert kernel == {"softirq": pytest.approx(3), "receive polls": None}
    assert cpu.server_total(seen) is cpu.uncorrected_total(seen) is None
    assert cpu.why_no_cost(seen) == TOO_MANY
    assert cpu.generator_cost(seen.on([0]))["receive polls"] is None
    assert core_time.receive_share(seen) is None
    level = next(each for each in summarise([trial], CONTEXT).servers if each.levels).levels[0]
    for name in ("server_cpu_total", "receive_share", "generator_cpu.receive polls"):
        assert (level[name].median, level[name].reason) == (None, TOO_MANY), name


def ran(trial: Trial, thread: str, read: dict[float, float], command: str = "nginx") -> None:
    """A thread of process 7 that took so many seconds by some moments, and was not there before."""
    labels = {"cpu": "1", "process": "7", "thread": thread, "command": command, "kind": "task"}
    trial.samples += [TASK_TIME.sample(at, seconds, **labels) for at, seconds in read.items()]


def test_threads_that_first_ran_in_the_window_are_the_servers_too() -> None:
    """A server may have one for each connection: their time was in no cost."""
    trial = load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49})
    ran(trial, "8", {END: 0.05, END + 1: 0.09})
    ran(trial, "9", {START: 0.5, END: 0.52, END + 1: 0.6})  # half a second was before the window
    seen = Readings(trial, (1,))
    assert cpu.uncorrected_total(seen) == pytest.approx(100 + 5 + 2)
    assert sum(core_time.seconds_by_process(seen, 1).values()) == pytest.approx(0.57)
    assert breakdown.thread_cost(seen)["nginx"] == pytest.approx(50 + 5 + 2)


def test_a_thread_whose_first_reading_is_the_windows_edge_was_there_before() -> None:
    """All its past counted as the window's: an edge is the moment of its earliest sample."""
    trial = load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49})
    trial.samples = [each for each in trial.samples if each.metric != "task.time"]
    ran(trial, "7", {START + 0.001: 30.0, END: 30.4})
    ran(trial, "8", {END: 0.2}, "new")
    taken = core_time.seconds_by_process(Readings(trial, (1,)), 1)
    assert taken == pytest.approx({(7, "nginx"): 0.4, (7, "new"): 0.2}, rel=1e-3)


def test_a_thread_that_a_failed_reading_lacked_may_have_run_before() -> None:
    trial = load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49})
    trial.samples = [each for each in trial.samples if each.metric != "task.time"]
    trial.samples += [TASK_TIME.unknown(at, "it failed") for at in (START - 1, START)]
    ran(trial, "7", {START + 5: 30.0, END: 30.4})
    seen = Readings(trial, (1,))
    assert core_time.seconds_by_process(seen, 1) == {}, "half of the window was not read"
    assert core_time.foreign_share(seen) is None


def test_a_thread_that_takes_another_name_has_all_of_its_time() -> None:
    trial = load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49})
    ran(trial, "8", {START - 1: 0.5, START: 1.0}, "python3")
    ran(trial, "8", {END: 1.03, END + 1: 1.05}, "worker")
    seen = Readings(trial, (1,))
    assert cpu.server_total(seen) == pytest.approx(100 + 3)
    assert breakdown.thread_cost(seen)["worker"] == pytest.approx(3)


def test_other_programs_on_its_core_are_not_charged_to_the_server() -> None:
    trial = load_trial(completed=10_000)
    add_other_program(trial, 2.5)
    seen = Readings(trial, (1,))
    assert cpu.server_total(seen) == pytest.approx(100)
    assert core_time.foreign_share(seen) == pytest.approx(0.25)


def test_polling_the_servers_interface_is_its_system_time() -> None:
    trial = load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49})
    poll = {"cpu": "1", "process": "9", "thread": "9", "command": "napi/sc-server0", "kind": "task"}
    trial.samples += counter("task.time", 0.05, poll)
    trial.samples += counter("task.time", 0.70, {**poll, "cpu": "0", "command": "napi/sc-load0-2"})
    seen = Readings(trial, (1,))
    cost = cpu.server_cost(seen)
    assert cost == pytest.approx({"user": 10, "system": 45, "irq": 1, "softirq": 49})
    assert core_time.foreign_share(seen) == pytest.approx(0)


@pytest.mark.parametrize(
    ("command", "tracked", "system", "foreign"),
    [
        ("ksoftirqd/1", 0, 45, 0),
        ("ksoftirqd/1", 500, 45, 0),
        ("kworker/1:2", 500, 45, 0),
        ("kworker/1:2", 0, 40, 0.005),
        ("cc1plus", 500, 40, 0.005),
    ],
)
def test_the_kernels_threads_for_packets_are_no_strangers(
    command: str, tracked: int, system: float, foreign: float
) -> None:
    trial = load_trial(microseconds={"user": 10, "system": 40, "irq": 1, "softirq": 49})
    thread = {"cpu": "1", "process": "9", "thread": "9", "command": command, "kind": "task"}
    trial.samples += counter("task.time", 0.05, thread)
    trial.samples += gauge("conntrack.entries", [tracked] * 4, {"namespace": "sc-server"})
    seen = Readings(trial, (1,))
    assert core_time.foreign_share(seen) == pytest.approx(foreign)
    assert cpu.server_cost(seen)["system"] == pytest.approx(system)


def test_on_shared_cores_only_the_servers_processes_are_known_and_clients_no_strangers() -> None:
    trial = asked("wrk", 50, "rps-1k", 0, 1000)
    poll = {"cpu": "1", "process": "9", "thread": "9", "command": "napi/sc-load0", "kind": "task"}
    client = {**poll, "process": "50", "command": "wrk"}
    stranger = {**poll, "process": "51", "command": "cc1plus"}
    for labels, seconds in ((poll, 0.2), (client, 3.0), (stranger, 0.5)):
        trial.samples += counter("task.time", seconds, labels)
    trial.load.settings.cores_shared = True
    trial.load.others = [7, 50]
    seen = Readings(trial, (0, 1))
    cost = cpu.server_cost(seen)
    assert cost == {"user": pytest.approx(10), "system": pytest.approx(40)} | dict.fromkeys(
        ("irq", "softirq")
    )
    assert core_time.foreign_share(seen.on([1])) == pytest.approx(0.05), "what the compiler took"
    level = summary(trial).servers[0].levels[0]
    assert level["server_cpu_total"].reason == "clients also ran on these cores"
    (one, *_) = series(summary(trial))
    assert one.at(1) == "on the clients' cores"


def test_generator_is_apart_and_its_core_never_charged_to_the_server() -> None:
    seen = Readings(load_trial(completed=10_000), (1,))
    assert cpu.generator_cost(seen.on([0]))["busy"] == pytest.approx(400)
    elsewhere = cpu.generator_cost(seen.on([]))
    assert elsewhere == {"busy": pytest.approx(400), "softirq": None, "receive polls": None}
    assert core_time.engine_busy_share(seen, "generator") == pytest.approx(0.4)
    assert cpu.server_total(seen) == pytest.approx(100)


def test_total_is_unknown_when_a_kind_is() -> None:
    trial = load_trial()
    trial.samples = [s for s in trial.samples if s.labels.get("kind") != "softirq"]
    seen = Readings(trial, (1,))
    assert cpu.server_cost(seen)["softirq"] is None
    assert cpu.server_total(seen) is None


def test_share_of_receive_work_on_the_servers_core() -> None:
    seen = Readings(load_trial(), (1,))
    assert core_time.receive_share(seen) == pytest.approx(0.99)
    assert core_time.receive_share(seen.on([0])) == pytest.approx(0.01)


def test_failed_connections_are_not_completed_ones() -> None:
    trial = load_trial(completed=1000)
    trial.samples = [s for s in trial.samples if s.labels.get("counter") != "tcps_drops"]
    dropped = {"engine": "generator", "side": "client", "counter": "tcps_drops"}
    trial.samples += counter("trex.counter", 10, dropped)
    assert flows.completed_in(Readings(trial, (1,))) == 990
    assert flows.completed_rate(Readings(trial, (1,))) == 99


def test_of_http_clients_too() -> None:
    """A server counts a request that it answers with an error."""
    trial = asked("wrk", 50, "mix", 0, answered=990)
    seen = Readings(trial, (1,))
    assert flows.completed_in(seen) == 10_000, "the server's count, in the window of 10 s"
    load = trial.load_of(HttpClients)
    assert load.counted
    load.counted.failed["status"] = 100
    assert flows.completed_in(seen) == 9_900, "the clients'"
    load.counted_beside = replace(load.counted, rate=10, failed={})
    assert flows.completed_in(seen) == 10_000, "all of them took the server's time"


def test_counters_of_the_peer_are_not_the_generators() -> None:
    trial = load_trial(completed=1000)
    peers = [
        s._replace(labels={**s.labels, "engine": "peer"})
        for s in trial.samples
        if s.metric == "trex.counter"
    ]
    trial.samples += peers
    assert flows.completed_in(Readings(trial, (1,))) == 1000


def test_core_shares_are_of_each_cores_own_time_and_tell_idle_polling_apart() -> None:
    shares = core_shares([Readings(load_trial(), (1,))])
    assert sum(shares["1"].values()) == pytest.approx(1)
    assert shares["1"]["idle"] == pytest.approx(0.9)
    assert shares["0"]["idle polling"] == pytest.approx(0.6)
    assert sum(shares["0"][kind] for kind in ("user", "system", "softirq")) == pytest.approx(0.4)


def told(trial: Trial, entry: float, exit_: float) -> Trial:
    """So many seconds of core 1's idle time were outside of idle states."""
    move_time(trial, "1", {"idle": -entry - exit_})
    for kind, seconds in (("idle entry", entry), ("idle exit", exit_)):
        trial.samples += counter("cpu.exact_time", seconds, {"cpu": "1", "kind": kind})
    return trial


def test_what_the_idle_task_does_stands_beside_the_cost_and_is_idle_as_before() -> None:
    before, seen = Readings(load_trial(), (1,)), Readings(told(load_trial(), 0.01, 0.04), (1,))
    assert cpu.idle_task_cost(seen) == pytest.approx({"idle entry": 1, "idle exit": 4})
    assert cpu.server_cost(seen) == pytest.approx(cpu.server_cost(before))
    cores = [core_seconds(each, 1) for each in (before, seen)]
    assert cores[0] and cores[1] and cores[1].idle == pytest.approx(cores[0].idle)
    assert cores[1].residue == pytest.approx(0, abs=1e-9)


def test_a_run_that_does_not_tell_what_the_idle_task_did_says_so() -> None:
    assert cpu.idle_task_cost(Readings(load_trial(), [1])) == dict.fromkeys(IDLE_TASK)
    assert not cpu.idle_task_cost(Readings(load_trial(microseconds={"busy": 12}), [1]))
    level = summarise([load_trial()], CONTEXT).servers[0].levels[0]
    found = level.kinds("idle_task")
    assert {each.median for each in found.values()} == {None} and len(found) == 2
    assert all("does not tell when the idle task" in each.reason for each in found.values())


def test_softirq_is_distinguished_by_vector_on_the_servers_cores() -> None:
    trial = load_trial()
    trial.samples += counter("softirq.time", 0.02, {"cpu": "1", "vector": "TIMER"})
    found = breakdown.softirq_cost(Readings(trial, [1]))
    assert found == pytest.approx({"NET_RX": 49, "TIMER": 2})


def test_threads_are_named_by_family_and_small_ones_summed_up() -> None:
    trial = load_trial()
    for number, (command, spent) in enumerate(
        (
            ("ksoftirqd/1", 0.03),
            ("napi/sc-server0", 0.02),
            ("napi/sc-server0-12", 0.01),
            ("cc1plus", 0.04),
            ("sshd", 0.0004),
            ("cron", 0.0002),
        )
    ):
        labels = {"cpu": "1", "process": str(50 + number), "thread": "1", "command": command}
        trial.samples += counter("task.time", spent, labels | {"kind": "task"})
    found = breakdown.thread_cost(Readings(trial, [1]))
    assert found == pytest.approx(
        {
            "nginx": 50,
            "cc1plus, in no total": 4,
            "ksoftirqd": 3,
            "napi/sc-server0": 3,
            "others": 0.06,
        }
    )


def test_a_polling_peers_own_thread_is_left_out() -> None:
    """It was drawn with 480 us beside nginx's 185, nearly all of it polls that found nothing."""
    trial = load_trial("astf-peer", microseconds={"busy": 58})
    labels = {"cpu": "1", "process": "52", "thread": "52", "command": "napi/sc-server0-3"}
    trial.samples += counter("task.time", 0.02, labels | {"kind": "task"})
    assert breakdown.thread_cost(Readings(trial, [1])) == pytest.approx({"napi/sc-server0": 2})


def test_cycles_are_per_connection_and_unknown_without_counters() -> None:
    trial = load_trial()
    assert set(breakdown.hardware_cost(Readings(trial, [1])).values()) == {None}
    trial.samples += counter("cpu.cycles", 3e8, {"cpu": "1", "mode": "kernel"})
    assert breakdown.hardware_cost(Readings(trial, [1]))["cycles, kernel"] == pytest.approx(30_000)


CONNECTIONS = 10_000


def with_backend() -> Readings:
    """A device on core 1; behind it on core 0 a server of 60 us and its poll thread of 25 us."""
    trial = load_trial("dut/proxy_nginx", completed=CONNECTIONS)
    add_backend(trial, 60.0, 25.0, CONNECTIONS)
    return Readings(trial, (1,))


def test_its_processes_and_its_receive_work_are_its_cost_and_no_part_of_the_devices() -> None:
    seen = with_backend()
    assert backend_cost(seen.on([0])) == pytest.approx(
        {"user": 15.0, "system": 45.0, "receive polls": 25.0}
    )
    assert server_total(seen) == server_total(Readings(load_trial("alone"), (1,)))


def test_on_the_devices_core_it_is_a_part_of_the_whole() -> None:
    trial = load_trial("dut/proxy_nginx", completed=CONNECTIONS)
    alone = server_total(Readings(load_trial("alone"), (1,))) or 0.0
    add_backend(trial, 60.0, 25.0, CONNECTIONS, cpu="1")
    seen = Readings(trial, (1,))
    assert sum(cost or 0.0 for cost in backend_cost(seen).values()) == pytest.approx(85.0)
    assert server_total(seen) == pytest.approx(alone + 85.0)


def test_without_a_server_behind_there_is_no_such_cost() -> None:
    assert backend_cost(Readings(load_trial(), [0])) == {}


def test_a_server_whose_time_was_not_read_has_an_unknown_cost() -> None:
    seen = with_backend()
    seen.trial.samples = [s for s in seen.trial.samples if s.metric != "task.time"]
    assert set(backend_cost(Readings(seen.trial, [0])).values()) == {None}


def test_its_memory_is_told_from_the_devices() -> None:
    trial = hold_trial(100, {"process.pss": 50.0})
    trial.samples += gauge("backend.pss", [3e6], {"role": "master", "process": "8"})
    found = components(Readings(trial), {})
    assert found["backend process"] == 3e6 and found["process"] == pytest.approx(
        1_005_000, rel=1e-3
    )
