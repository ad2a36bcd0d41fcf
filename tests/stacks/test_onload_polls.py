"""What is read of Onload: how much it polled, for how many events, and what its queues hold."""

from stackcost.collect.sampler import Sampler
from stackcost.contracts.counts import Usage
from stackcost.contracts.trial import Trial
from stackcost.report.figure_tables import figure_table
from tests.analysis.http_trials import summary
from tests.analysis.trials import END, START, counter, load_trial
from tests.stacks.conftest import Machine

FIRST = {"k_polls": 10, "u_polls": 2**32 - 1_000, "rx_evs": 7, "tx_evs": 3}
FIRST |= {"ul_accepts": 5, "sockcache_hit": 0}
GROWN = {"k_polls": 20, "u_polls": 5_000_000, "rx_evs": 400, "tx_evs": 300}
GROWN |= {"ul_accepts": 120, "sockcache_hit": 110}


def trial_on(machine: Machine, *other_stacks: dict[str, int]) -> Trial:
    """A window of 10 s, at whose edges the collectors of a stack on this machine were read."""
    stack = machine.onload()
    stack.prepare()
    machine.start(stack)
    trial = load_trial(server="nginx/onload-balanced")
    with Sampler(stack.own_collectors(), interval_s=1_000) as sampler:
        for moment, grown in ((START, 0), (END, 1)):
            told = {name: (FIRST[name] + grown * GROWN[name]) % 2**32 for name in FIRST}
            machine.count(*other_stacks, **told)
            trial.samples += [s._replace(time=moment) for s in sampler.read_now()]
    return trial


def test_polls_in_the_kernel_and_in_user_space_are_told_with_their_events(machine: Machine) -> None:
    """Counters of 32 bits: a stack that spins goes past their end in a long run."""
    answer = summary(trial_on(machine))
    (level,) = answer.servers[0].levels
    assert {name: each.median for name, each in level.kinds("onload").items()} == {
        name: grown / (END - START) for name, grown in GROWN.items()
    }
    for name, each in level.kinds("onload").items():
        assert each.unit == answer.definitions[f"onload.{name}"].unit == "1/s"
    table = figure_table(answer)
    told = dict(zip(table.columns, table.rows[0], strict=True))
    shown = {"k_polls": "2", "u_polls": "500,000", "rx_evs": "40", "tx_evs": "30"}
    assert {name: told[f"onload.{name}, 1/s"] for name in shown} == shown


def test_a_stack_that_spins_at_no_load_costs_no_connection_and_tells_its_polls(
    machine: Machine,
) -> None:
    trial = trial_on(machine)
    trial.samples = [s for s in trial.samples if s.metric != "trex.counter"]
    for name in ("tcps_connattempt", "tcps_closed"):
        labels = {"engine": "generator", "side": "client", "counter": name}
        trial.samples += counter("trex.counter", 0, labels)
    (level,) = summary(trial).servers[0].levels
    cost = level["server_cpu_total"]
    assert (cost.median, cost.reason) == (None, "no connection fell inside the sustain window")
    assert level.kinds("onload")["u_polls"].median == GROWN["u_polls"] / (END - START)


def test_polls_of_clients_stacks_are_not_the_servers(machine: Machine) -> None:
    """Onload's tools report all stacks on the machine."""
    clients = machine.onload("wrk", link="sc-load0", listens=None, workers=1)
    clients.prepare()
    machine.start(clients)
    trial = trial_on(machine, {"u_polls": 7_000_000})
    (level,) = summary(trial).servers[0].levels
    assert level.kinds("onload")["u_polls"].median == GROWN["u_polls"] / (END - START)
    told = {s.labels["stack"] for s in trial.samples if s.metric == "onload.counter"}
    assert told == {"1"}


def test_polls_that_cannot_be_read_are_unknown_with_the_reason(machine: Machine) -> None:
    machine.play("no stack")
    (level,) = summary(trial_on(machine)).servers[0].levels
    assert {(each.median, each.reason) for each in level.kinds("onload").values()} == {
        (None, "onload: orm_json reports no stack of the programs")
    }


def test_a_spinning_stack_is_not_past_its_ceiling_by_a_busy_core(machine: Machine) -> None:
    full = {"user": 900.0, "system": 50.0, "irq": 1.0, "softirq": 40.0}  # of 10 s, by 10,000
    kernel, onload = load_trial(microseconds=full), trial_on(machine)
    onload.samples = kernel.samples + [s for s in onload.samples if s.metric == "onload.counter"]
    signs = [summary(each).servers[0].levels[0].past_ceiling for each in (kernel, onload)]
    assert signs == ["it used 99% of core 1", ""]


def test_a_trial_on_the_kernels_stack_has_no_such_figures() -> None:
    answer = summary(load_trial())
    assert not answer.servers[0].levels[0].kinds("onload")


def test_the_accept_queue_is_that_of_onloads_listeners(machine: Machine) -> None:
    stack = machine.onload()
    stack.prepare()
    machine.start(stack)
    machine.listen((80, 17, 5, 511), (443, 9, 0, 511), (80, 3, 2**32 - 1, 511))
    assert stack.accept_queue("stackcost-server", 80) == Usage(now=12 + 4, limit=2 * 511)


def test_where_onload_has_no_listener_the_accept_queue_is_unknown(machine: Machine) -> None:
    stack = machine.onload()
    machine.listen((80, 17, 5, 511))
    assert stack.accept_queue("stackcost-server", 80) == (
        "orm_json reports no listener of port 80 on Onload"
    )
