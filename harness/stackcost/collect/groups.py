"""Counters of each template group, which show the service of each application."""

import time
from typing import Any, Protocol

from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import TREX_GROUP_COUNTER
from stackcost.contracts.sample import Sample


class GroupClient(Protocol):
    """The part of stackcost.trex.client.TrexClient that is needed here."""

    def group_stats(self, profile: str) -> dict[str, Any]:
        """TRex's get_traffic_tg_stats() of all groups of a profile."""


class Groups(Collector):
    """Reads the template groups of loaded profiles, named by their identifiers."""

    name = "groups"
    metrics = (TREX_GROUP_COUNTER,)

    def __init__(self, client: GroupClient, *profiles: str):
        self._client = client
        self._profiles = profiles

    def read(self) -> list[Sample]:
        """The TCP and UDP counters of both sides by group; those that are not zero."""
        return [sample for profile in self._profiles for sample in self._read(profile)]

    def _read(self, profile: str) -> list[Sample]:
        groups, now = self._client.group_stats(profile), time.monotonic()
        return [
            TREX_GROUP_COUNTER.sample(now, value, group=group, side=side, counter=counter)
            for group, sides in groups.items()
            for side in ("client", "server")
            for counter, value in sides[side].items()
            if isinstance(value, int | float) and value and counter.startswith(("tcps_", "udps_"))
        ]
