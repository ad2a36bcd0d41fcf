"""A kind of load in one file: connections in bursts, of the same rate on average.

An experiment names it: `load: {offered_by: bursts.py, settings: {burst_s: 0.2}, ...}`.
"""

import time

from stackcost.contracts.load import OwnLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.runs.loads.own import OwnKind
from stackcost.runs.loads.reading import reading
from stackcost.session.profile_session import ProfileSession

HIGH, LOW = 1.9, 0.1  # of the rate, in turn
OVERHANG_S = 1.0  # the load continues, so that the end of the window is read under load


class Bursts(OwnKind):
    """A high rate and a low rate in turn, each for `burst_s` seconds."""

    name = "bursts"

    def offer_own(self, session: ProfileSession, trial: Trial, load: OwnLoad) -> None:
        """Warm-up and sustain in bursts; then the last connections end."""
        with reading(session, trial, load):
            whole_s = self.part.warm_up_s + self.part.sustain_s + OVERHANG_S
            session.generator.start(mult=load.offered_cps, duration=whole_s)
            edges = [session.read_edge()]
            for length in (self.part.warm_up_s, self.part.sustain_s):
                self._burst(session, load, length)
                edges.append(session.read_edge())
            trial.phases["warm-up"] = Window(edges[0], edges[1])
            trial.phases["sustain"] = Window(edges[1], edges[2])
            session.check_stack("during")
            load.limits = session.serving.limits(session.experiment.workload.port)
            load.cut_flows = session.end_traffic(OVERHANG_S + self.part.drain_s)

    def _burst(self, session: ProfileSession, load: OwnLoad, seconds: float) -> None:
        end, share = time.monotonic() + seconds, HIGH
        while time.monotonic() < end:
            session.generator.update(share * load.offered_cps)
            time.sleep(load.settings["burst_s"])
            share = HIGH + LOW - share
