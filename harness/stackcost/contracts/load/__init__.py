"""The kinds of load that a trial puts on a system, each with what was asked for and what was read.

One file here is one kind, and says what is read of it and which rules judge it. How it is offered
is in `stackcost.runs.loads`, so that what only reads stored runs cannot offer anything.
"""

from typing import Annotated, TypeAlias

from pydantic import Field

from stackcost.contracts.load.base import Load
from stackcost.contracts.load.constant import ConstantLoad
from stackcost.contracts.load.counted import CountedLoad
from stackcost.contracts.load.event import DeviceEvent, EventTimeline
from stackcost.contracts.load.held import ESTABLISHED, FlowState, HeldFlows
from stackcost.contracts.load.http import HttpClients
from stackcost.contracts.load.mix import MixedLoad, MixStep
from stackcost.contracts.load.own import OwnLoad
from stackcost.contracts.load.profile import ProfileTraffic
from stackcost.contracts.load.search import CeilingKind, Loss, SearchStep

__all__ = [
    "ESTABLISHED",
    "CeilingKind",
    "ConstantLoad",
    "CountedLoad",
    "DeviceEvent",
    "EventTimeline",
    "FlowState",
    "HeldFlows",
    "HttpClients",
    "Load",
    "Loss",
    "MixStep",
    "MixedLoad",
    "OwnLoad",
    "ProfileTraffic",
    "SearchStep",
    "Stored",
    "load_words",
    "rate_words",
]

# The registry: a stored load is of one of these kinds.
Stored: TypeAlias = Annotated[
    ConstantLoad
    | CountedLoad
    | HeldFlows
    | HttpClients
    | DeviceEvent
    | MixedLoad
    | OwnLoad
    | SearchStep,
    Field(discriminator="kind"),
]


def rate_words(rate: float) -> str:
    """An offered rate as text. Two digits of a small one: 0.01/s, which is idle, is not 0."""
    return f"{rate:,.0f}" if rate >= 10 or rate == int(rate) else f"{rate:.2g}"


def load_words(test: str, rate: float) -> str:
    """A load as text, the same in every table: "4,000", "rps-1k", "rates at 4,000".

    `test`: of HTTP clients; else empty. `rate`: offered; 0 of a closed loop.
    """
    if not test:
        return rate_words(rate)
    return f"{test} at {rate_words(rate)}" if rate else test
