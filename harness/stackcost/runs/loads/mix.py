"""Offers mixed traffic in steps of rising load."""

import time

from stackcost.analysis.device.mix import half_of, steps_of
from stackcost.collect.groups import Groups
from stackcost.contracts.event_settings import LAST_FLOWS_S, EventSettings
from stackcost.contracts.load import MixedLoad, MixStep
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.files import PROFILES
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.reading import reading
from stackcost.session.profile_session import ProfileSession
from stackcost.session.server_settings import prefixes_of
from stackcost.trex.astf_client import ONLY

PROFILE = PROFILES / "enterprise_mix.py"
SETTLE_S = 0.5  # from a change of the load to its step
SPARE_S = 3.0  # the traffic continues after the last step, so that its end is read under load


class Mix(LoadKind[ProfileSession, MixedLoad]):
    """Mixed traffic through a device."""

    def __init__(self, settings: EventSettings):
        self._settings = settings

    def seconds(self, load: MixedLoad) -> float:
        """Seconds that the settings say."""
        return self._settings.length("mix")

    def words(self, load: MixedLoad) -> str:
        """The turn's name has the rest."""
        return "traffic"

    def offer(self, session: ProfileSession, trial: Trial) -> None:
        """Offer rising loads; then clear the table and offer half of the highest lossless one.

        The trial's load is a `MixedLoad`; each finished step is added to it.
        """
        load = trial.load_of(MixedLoad)
        client, settings = session.generator, self._settings
        groups, length = Groups(client, ONLY), settings.mix_step_s
        client.load_profile(PROFILE, prefixes_of(session.serving.ip_version) | {"cps": 1})
        samples: list[Sample] = []

        def edge() -> float:
            session.read_edge()
            now = time.monotonic()
            samples.extend(groups.read())
            return now

        def watch(flows_per_second: float) -> None:
            time.sleep(SETTLE_S)
            since = edge()
            time.sleep(length)
            load.steps.append(MixStep(flows_per_second, Window(since, edge())))

        began = time.monotonic()
        try:
            with reading(session, trial, load):
                rising = settings.mix_loads
                client.start(mult=rising[0], duration=2 * length * len(rising) + SPARE_S)
                for number, flows_per_second in enumerate(rising):
                    if number:
                        client.update(flows_per_second)
                    watch(flows_per_second)
                load.limits = session.serving.limits(session.experiment.workload.port)
                client.stop()
                session.serving.reset()  # an overload may have filled its table for minutes
                half = half_of(steps_of(load, samples))
                client.start(mult=half, duration=length + SPARE_S)
                watch(half)
                load.cut_flows = session.end_traffic(SPARE_S + LAST_FLOWS_S)
                trial.phases["event"] = Window(began, session.read_edge())
        finally:
            trial.samples += samples
