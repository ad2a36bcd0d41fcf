"""The standard set of runs against a device: loads, ceilings, events, each on a new test bed."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from stackcost.analysis.ceiling.settings import SearchSettings, settings_for
from stackcost.contracts.dut_settings import DutSettings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.event_settings import EXHAUSTING, QUICK, Event, EventSettings
from stackcost.contracts.load import CeilingKind, DeviceEvent, MixedLoad
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.duts.base import Dut
from stackcost.duts.tracking import TrackingDut
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.matrix_section import Matrix
from stackcost.experiment.read_file import on_bed, read_experiment
from stackcost.experiment.schema import EXTERNAL, Experiment
from stackcost.experiment.section import Section
from stackcost.files import EXPERIMENTS
from stackcost.runs.comparison import run_experiment
from stackcost.runs.loads.event import Events
from stackcost.runs.loads.mix import Mix
from stackcost.runs.record import new_campaign
from stackcost.runs.search import CeilingPlan, run_ceilings
from stackcost.runs.turn import Feed, PlannedTrials, Purpose, Turn
from stackcost.servers.own_files import class_in
from stackcost.servers.registry import DEVICES, SUFFIX, nearest, server_class, server_name
from stackcost.session.profile_session import SETUP_S, ProfileSession, open_profile_session
from stackcost.store import RunFolder

PATTERN = EXPERIMENTS / "dut.yaml"
PATTERN_TLS = EXPERIMENTS / "dut_tls.yaml"  # RFC 9411, 7.6 to 7.9
PATTERN_CLIENTS = EXPERIMENTS / "dut_tls_clients.yaml"  # the same by ab, wrk and h2load
Parts = Mapping[str, Callable[[], RunFolder]]  # what each run of a set is of, and makes it
PAGE = "docs/adding-a-dut.md"
FORWARDING, WIRE = "dut/forwarding", "dut/wire"
BELOW_LIMIT = (0.25, 0.5, 0.8)  # shares of the device's limit of new connections
QUICK_FLOWS = 16_000  # highest number of flows in a quick search
QUICK_WIDTH = 0.1  # relative width of the bounds at the end of a quick search
QUICK_FIRST = 4_000  # first load; every device here can handle it
# Over TLS the generator's own handshakes take most of its time, and each flow some memory.
TLS_FIRST: dict[CeilingKind, float] = {"connections": 200, "requests": 2_000, "flows": 500}
TLS_FLOWS, TLS_FLOWS_QUICK = 16_000, 2_000  # highest numbers of flows
TLS_BODIES = [1_000, 64_000]  # of transactions: two of RFC 9411's object sizes


def standard_set(
    kind: str,
    quick: bool,
    settings: Mapping[str, Any],
    results: Path,
    command: list[str],
    console: Console,
    bed: Path | None = None,
    tls: bool = False,
    clients: bool = False,
) -> list[RunFolder]:
    """Make all runs of the set in order; an interrupted run is the last one.

    `kind`: the device's name, with or without "dut/", or the path of a file. `settings`: values for
    the section `dut`. `bed`: an experiment file whose test bed is used. `tls`: the tests of RFC
    9411 over TLS; with `clients` by programs of HTTP clients. StackcostError for an unknown device.
    """
    folders = list[RunFolder]()
    if clients:
        of_clients = experiment_of(kind, quick, settings, bed, PATTERN_CLIENTS)
        return [run_experiment(of_clients, "dut-tls-clients", results, command, console)]
    experiment = experiment_of(kind, quick, settings, bed, PATTERN_TLS if tls else PATTERN)
    parts = (_parts_over_tls if tls else _parts)(experiment, quick, results, command, console)
    length = "about nine minutes" if quick else "several times the nine minutes of --quick"
    console.print(f"{len(parts)} runs: {', '.join(parts)}; {length}", highlight=False)
    for number, (what, make) in enumerate(parts.items(), 1):
        console.print(f"run {number} of {len(parts)}: {what}", highlight=False)
        folders.append(make())
        if folders[-1].manifest().state == "interrupted":
            break
    return folders


def experiment_of(
    kind: str,
    quick: bool,
    settings: Mapping[str, Any],
    bed: Path | None = None,
    pattern_file: Path = PATTERN,
) -> Experiment:
    """The experiment of `pattern_file` with this device, compared with plain forwarding.

    `bed`: an experiment file whose hosts, test bed, generators and cores are used.
    """
    entry = kind if kind.endswith(SUFFIX) or kind.startswith("dut/") else f"dut/{kind}"
    if entry.endswith(SUFFIX):
        class_in(Path(entry).resolve(), Dut, PAGE, "device")
    elif Path(kind).is_file():
        raise StackcostError(
            f"{kind} is no Python file, and a device is one",
            "of a ruleset of your own: docs/stressing-a-firewall.md, `Your own rules`",
        )
    if entry == WIRE or (entry not in DEVICES and not entry.endswith(SUFFIX)):
        known = [name.removeprefix("dut/") for name in DEVICES if name != WIRE]
        raise StackcostError(
            f"there is no device {kind!r}{nearest(kind.removeprefix('dut/'), known)}",
            f"all: {PAGE}; or your own file, such as ./mydut.py",
        )
    pattern = read_experiment(pattern_file, quick)
    name, dut = server_name(entry), _settings(pattern.dut, entry, settings)
    behind = "" if dut.server == "engine" else f" to {dut.server}"
    beside = [] if entry == EXTERNAL else [FORWARDING]  # it is on no other bed
    made = pattern.model_copy(
        update={
            "title": f"{_words(pattern)} through {name}{behind}",
            "servers": list(dict.fromkeys([entry, *beside])),
            "baseline": name,
            "against": [*beside, name][0],
            "dut": dut,
            **_within(pattern, settings.get("new_per_second")),
        }
    )
    if entry == EXTERNAL and bed is None:
        raise StackcostError(
            f"{EXTERNAL} is known by the section dut.device of an experiment file", "--bed FILE"
        )
    return made if bed is None else on_bed(made, read_experiment(bed))


def _words(pattern: Experiment) -> str:
    if pattern.http:
        return "HTTPS"
    return f"One {'HTTPS' if pattern.load.tls else 'HTTP'} connection"


def _settings(usual: DutSettings, entry: str, wanted: Mapping[str, Any]) -> DutSettings:
    """The settings of dut.yaml with the wanted ones; the default IP version is the device's."""
    kind, chosen = server_class(entry), dict(wanted)
    if "ip_version" not in chosen and issubclass(kind, Dut):
        chosen["ip_version"] = kind.ip_versions[0]
    try:
        dut = DutSettings.model_validate(usual.model_dump() | chosen)
    except ValidationError as error:
        (fault, *_) = error.errors()
        option = "".join(f"--{str(name).replace('_', '-')}: " for name in fault["loc"][:1])
        words = fault["msg"].removeprefix("Value error, ")
        raise StackcostError(f"{option}{words}", "stackcost dut --help has each option") from error
    if issubclass(kind, Dut):
        kind.check_takes(dut.ip_version)
    return dut


def _within(pattern: Experiment, limit: int | None) -> dict[str, Section]:
    """Loads below the limit of a limiting device: a cost is that of connections that succeed."""
    if limit is None:
        return {}
    rates = [share * limit for share in BELOW_LIMIT]
    slowly = min(pattern.memory.open_cps, rates[-1])
    return {
        "load": pattern.offering(rates).load,
        "memory": pattern.memory.model_copy(update={"open_cps": slowly}),
    }


def _search(of: CeilingKind, quick: bool) -> SearchSettings:
    """The usual search; a quick one starts higher, ends earlier, and needs one trial per load."""
    if not quick:
        return settings_for(of)
    most = QUICK_FLOWS if of == "flows" else None
    usual = settings_for(of, quick, QUICK_WIDTH, most)
    once = usual.final_trial_duration
    return usual.model_copy(update={"first_load": QUICK_FIRST, "duration_sum": once})


def _search_over_tls(of: CeilingKind, quick: bool) -> SearchSettings:
    """The search over TLS; it starts lower than others, and opens fewer flows."""
    most = TLS_FLOWS_QUICK if quick else TLS_FLOWS
    usual = settings_for(of, quick, QUICK_WIDTH if quick else None, most if of == "flows" else None)
    own: dict[str, float] = {"first_load": TLS_FIRST[of]}
    if quick:
        own["duration_sum"] = usual.final_trial_duration
    return usual.model_copy(update=own)


def _alone(experiment: Experiment) -> tuple[Experiment, Variant, bool]:
    """The device without plain forwarding beside it, and whether it tracks connections."""
    alone = experiment.model_copy(update={"servers": experiment.servers[:1]})
    (target,) = variants(alone)
    tracks = issubclass(target.kind, TrackingDut) or target.server == EXTERNAL
    return alone, target, tracks


def _parts_over_tls(
    experiment: Experiment, quick: bool, results: Path, command: list[str], console: Console
) -> Parts:
    """Costs and latency (RFC 9411, 7.8), and ceilings."""
    rates, transactions = ceilings_over_tls(experiment, quick)
    return {
        "costs": lambda: run_experiment(experiment, "dut-tls-cost", results, command, console),
        "connections/s and open flows": lambda: run_ceilings(
            rates, "dut-tls-connections", results, command, console
        ),
        "transactions/s": lambda: run_ceilings(
            transactions, "dut-tls-requests", results, command, console
        ),
    }


def ceilings_over_tls(experiment: Experiment, quick: bool) -> list[CeilingPlan]:
    """Connections/s and open flows of the device (RFC 9411, 7.6 and 7.9); transactions/s by their
    length, which is throughput (7.7).
    """
    alone, target, _ = _alone(experiment)
    by_length = alone.model_copy(update={"matrix": Matrix(response_bytes=TLS_BODIES)})
    parts: list[tuple[tuple[Variant, ...], tuple[CeilingKind, ...]]] = [
        ((target,), ("connections", "flows")),
        (tuple(variants(by_length)), ("requests",)),
    ]
    return [
        CeilingPlan(targets, {of: _search_over_tls(of, quick) for of in ceilings}, 1)
        for targets, ceilings in parts
    ]


def _parts(
    experiment: Experiment, quick: bool, results: Path, command: list[str], console: Console
) -> Parts:
    alone, target, tracks = _alone(experiment)
    ceilings: tuple[CeilingKind, ...] = ("connections", "flows") if tracks else ("connections",)
    plan = CeilingPlan((target,), {of: _search(of, quick) for of in ceilings}, 1)
    events, left_out = events_for(alone, tracks)
    wanted = QUICK if quick else EventSettings()
    return {
        "costs": lambda: run_experiment(experiment, "dut-cost", results, command, console),
        "ceilings": lambda: run_ceilings(plan, "dut-ceiling", results, command, console),
        "events": lambda: run_events(alone, events, wanted, results, command, console, left_out),
    }


def events_for(experiment: Experiment, tracks: bool) -> tuple[list[Event], list[str]]:
    """The events that are possible with the device and its server, and why others are left out."""
    if EXTERNAL in experiment.servers:
        return ["mix"], [
            "A full table, a cut link and a removed device were left out: stackcost can change "
            "nothing of the device."
        ]
    events: list[Event] = ["cut"]
    left_out = []
    if experiment.bed is None:
        events.append("killed")
    else:
        left_out.append("The removed device was left out: its interfaces are those of a host.")
    behind, cores = experiment.dut.server, experiment.cores.load
    if tracks and (behind == "engine" or len(cores) > 1):
        events[:0] = EXHAUSTING
    elif tracks:
        left_out.append(
            f"The tests with a full table were left out: {behind} shares core {cores[0]} with the "
            "generator, and a flood that slows both would look like a failure of the device. "
            "Set two cores in cores.load."
        )
    if behind == "engine":
        events.insert(0, "mix")
    else:
        left_out.append(f"Mixed traffic was left out: {behind} serves only HTTP.")
    return events, left_out


def run_events(
    experiment: Experiment,
    events: Sequence[Event],
    settings: EventSettings,
    results: Path,
    command: list[str],
    console: Console,
    left_out: Sequence[str] = (),
) -> RunFolder:
    """Test each of `events` on the experiment's device; returns the run's folder.

    To exhaust its table, the table is limited to `settings.table` entries. `left_out`: sentences
    for the report about events that are left out. For other ends see `new_campaign`.
    """
    (entry,) = experiment.servers
    about = experiment.model_dump(mode="json") | {
        "title": f"State and links of {server_name(entry)}",
        "events": settings.model_dump(),
        "left_out": list(left_out),
    }
    here = experiment.uses_this_machine
    with new_campaign(
        results,
        "events",
        command,
        console,
        here=here,
        kind="events",
        experiment=about,
        systems=[System.of(server_name(entry))],
    ) as campaign:
        campaign.expect([SETUP_S + settings.length(event) for event in events])
        campaign.run(turns_of(experiment, events, settings))
    return campaign.folder


def turns_of(
    experiment: Experiment, events: Sequence[Event], settings: EventSettings
) -> Feed[None]:
    """A turn for each event, in order."""
    (entry,) = experiment.servers
    name = server_name(entry)
    for event in events:
        table = settings.of_exhausted() if event in EXHAUSTING else {}
        yield Turn(
            system=name,
            bed=event,
            kind=server_class(entry),
            experiment=experiment.model_copy(
                update={"dut": experiment.dut.model_copy(update=table)}
            ),
            where=f"{event} of {name}",
            logs=event,
            steps=partial(_steps, name, event, settings),
            open=open_profile_session,
        )


def _steps(
    name: str, event: Event, settings: EventSettings, session: ProfileSession
) -> PlannedTrials[None]:
    length, purpose = session.response_bytes, Purpose()
    if event == "mix":
        mix = MixedLoad()
        trial = Trial(name, 0, 1, mix, length)
        yield Mix(settings).planned(session, trial, mix, purpose)
    else:
        load = DeviceEvent(event=event, settings=settings)
        trial = Trial(name, 0, 1, load, length)
        yield Events().planned(session, trial, load, purpose)
