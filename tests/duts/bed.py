"""A test bed with a device under test, and single trials on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from stackcost.analysis.cost import core_time, cpu
from stackcost.analysis.readings import Readings
from stackcost.bed.lock import RunLock
from stackcost.contracts.load import CeilingKind, ConstantLoad
from stackcost.contracts.metrics import INTERFACE_PACKETS
from stackcost.contracts.server import Server
from stackcost.contracts.trial import Trial
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE, DUT_NAMESPACE, DUT_SERVER_INTERFACE
from stackcost.duts.base import Dut
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.host.signals import ending_signals_raise
from stackcost.runs.loads.constant import offer_load
from stackcost.runs.loads.reading import reset_server
from stackcost.runs.loads.search import WARM_UP_S, Steps
from stackcost.session.profile_session import ProfileSession, open_profile_session
from stackcost.session.progress import Progress
from stackcost.session.server_settings import server_settings

EXPERIMENT = read_experiment(Path(__file__).resolve().parents[2] / "experiments" / "dut.yaml", True)
NGINX = EXPERIMENT.model_copy(update={"dut": EXPERIMENT.dut.model_copy(update={"server": "nginx"})})
DEVICE_CPUS = EXPERIMENT.cores.server


@contextmanager
def session_of(
    kind: type[Server], folder: Path, experiment: Experiment = EXPERIMENT
) -> Iterator[ProfileSession]:
    memory = experiment.memory.model_copy(update={"open_cps": 8_000})
    experiment = experiment.model_copy(update={"memory": memory})
    with (
        RunLock(),
        ending_signals_raise(),
        open_profile_session(kind, experiment, folder, Progress()) as session,
    ):
        yield session


def become(session: ProfileSession, kind: type[Dut], **settings: object) -> Dut:
    """Let the device of the bed be of a kind, with settings; an empty table of connections."""
    dut = session.experiment.dut.model_copy(update=settings)
    made = kind(
        session.bed.endpoint(session.folder),
        replace(server_settings(session.experiment, kind), dut=dut),
    )
    made.ip(f"link set {DUT_CLIENT_INTERFACE} mtu 1500")  # of a fault before
    made.start()
    made.reset()
    session.local_server.server = made
    return made


def ceiling_trial(session: ProfileSession, of: CeilingKind, load: float) -> Trial:
    trial = Trial(
        session.local_server.server.name, 1, 1, Steps(of).step(load, 0.5), session.response_bytes
    )
    Steps(of).offer(session, trial)
    return trial


def load_trial(
    session: ProfileSession, rate: float, seconds: float, drain_s: float = 8.0
) -> Readings:
    load = ConstantLoad(offered_cps=rate)
    trial = Trial(session.local_server.server.name, 1, 1, load, session.response_bytes)
    part = session.experiment.load.model_copy(
        update={"warm_up_s": WARM_UP_S, "sustain_s": seconds, "drain_s": drain_s}
    )
    Steps("connections").prepare(session)
    offer_load(session, trial, part)
    reset_server(session)
    return Readings(trial, DEVICE_CPUS)


def softirq_per_frame(seen: Readings) -> float:
    """Microseconds of softirq on the device's cores for each frame that its links received."""
    received = [
        seen.growth(
            INTERFACE_PACKETS,
            namespace=DUT_NAMESPACE,
            interface=interface,
            direction="receive",
        )
        for interface in (DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE)
    ]
    spent = core_time.kernel_seconds(seen)["softirq"]
    assert spent is not None and None not in received
    return spent / sum(count or 0.0 for count in received) * cpu.MICROSECONDS
