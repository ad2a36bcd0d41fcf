"""TRex's own client as the suite uses it; `stackcost.trex.client_process` has it in its process."""

import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import enter
from stackcost.remote.stub import called
from stackcost.trex.captures import check_captures

ALL_CLIENTS = 0xFFFFFFFF  # the TRex API's default mask
SET_TLS = "stackcost_set_tls"
SET_NETWORK, GET_NETWORK = "stackcost_set_impairment", "stackcost_get_impairment"
CLIENTS_PORT = 0
ONLY = "_"  # the TRex API's identifier of a profile that has been given none
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r'File "([^"]+)", line (\d+)')


class AstfClient:
    """One ASTFClient. `stackcost.trex.client.TrexClient` has the same methods in other processes.

    `answer_limit`: seconds to wait for an answer of the server.
    """

    def __init__(self, server: str, rpc_port: int, async_port: int, answer_limit: float):
        from trex.astf.api import ASTFClient, ASTFProfile

        check_captures()
        self._load_profile_file = ASTFProfile.load
        self._make_client = partial(
            ASTFClient,
            username="stackcost",
            server=server,
            sync_port=rpc_port,
            async_port=async_port,
            verbose_level="error",
            sync_timeout=answer_limit,
            async_timeout=answer_limit,
        )
        self._methods: frozenset[str] | None = None

    @cached_property
    def _client(self) -> Any:
        """Its threads are in the namespace and on the cores of the thread that makes it."""
        return self._make_client()

    def connect(self, namespace: str = "", cpus: Sequence[int] = ()) -> None:
        """Connect to the server; it must be serving already.

        The first time the client moves into `namespace` and to `cpus`, if they are given.
        """
        if namespace:
            enter(namespace)
        if cpus:
            os.sched_setaffinity(0, cpus)
        self._client.connect()
        self._methods = frozenset(self.call("get_supported_cmds", {}))

    def reset(self) -> None:
        """Take the ports by force, stop and unload everything, clear the statistics."""
        self._client.reset()

    def profile_json(self, path: Path, tunables: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON that the server would receive for a profile file; needs no connection."""
        profile: dict[str, Any] = json.loads(self._read(path, tunables).to_json_str())
        return profile

    def load_profile(
        self,
        path: Path,
        tunables: dict[str, Any] | None = None,
        profile: str = ONLY,
        tls: Mapping[str, Any] | None = None,
    ) -> None:
        """Upload a TRex profile file; `tunables` become its arguments, --name value.

        `profile`: its identifier; several profiles can run at the same time. `tls`: parameters of
        SET_TLS for all its TCP templates; None: without TLS. StackcostError if the server lacks it.
        """
        self._client.load_profile(self._read(path, tunables), pid_input=profile)
        if tls is not None:
            if not self.supports(SET_TLS):
                raise StackcostError(
                    "this generator has no TLS", "use astf-engine, or leave out load.tls"
                )
            self.call(SET_TLS, {"profile_id": profile, **tls})

    def set_network(self, settings: Mapping[str, float]) -> None:
        """Imitate a network at the clients' port, each way. `settings`: those of SET_NETWORK.

        StackcostError if the server lacks it, or tells other settings afterwards.
        """
        if not self.supports(SET_NETWORK):
            raise StackcostError(
                "this generator imitates no network", "use astf-engine, or leave out network"
            )
        for direction in ("transmit", "receive"):
            asked = {"port_id": CLIENTS_PORT, "direction": direction, "settings": dict(settings)}
            self.call(SET_NETWORK, asked)
        for each in self._networks():
            told = {name: each["settings"].get(name) for name in settings}
            if told != dict(settings):
                raise StackcostError(
                    f"the generator was asked for the network {dict(settings)}, and tells {told}"
                )

    def network_counts(self) -> dict[str, int]:
        """What that network did to frames of both ways since the server's start, by GET_NETWORK."""
        counts: Counter[str] = Counter()
        for each in self._networks():
            counts.update(each["counts"])
        return dict(counts)

    def _networks(self) -> list[dict[str, Any]]:
        """Of both directions of the clients' port: settings and counts."""
        every = self.call(GET_NETWORK, {})["impairments"]
        return [each for each in every if each["port"] == CLIENTS_PORT]

    def start(
        self,
        mult: float,
        duration: float = -1,
        nc: bool = False,
        client_mask: int = ALL_CLIENTS,
        t_duration: float = 0,
        profile: str = ONLY,
    ) -> None:
        """Start the loaded profile; returns once the server transmits.

        `mult` multiplies the profile's connections per second, `duration` is in seconds (negative:
        until stopped), `nc` cuts flows that are open at the end instead of letting them finish.
        `client_mask` has a bit for each port that opens connections; 0: it only serves.
        `t_duration`: seconds after which flows still open behind the duration are cut; 0: never.
        """
        self._client.start(
            mult=mult,
            duration=duration,
            nc=nc,
            client_mask=client_mask,
            t_duration=t_duration,
            pid_input=profile,
        )

    def update(self, mult: float) -> None:
        """Change the multiplier of running traffic."""
        self._client.update(mult)

    def is_traffic_active(self) -> bool:
        """Whether the server transmits or still cleans up, according to its events."""
        return bool(self._client.is_traffic_active())

    def stats(self) -> dict[str, Any]:
        """The client's get_stats(): "global", "traffic" (client and server), "latency", and ports.

        Zero counters are included. In other processes all keys are strings: ports are "0", "1",
        ..., "total".
        """
        statistics: dict[str, Any] = self._client.get_stats(skip_zero=False)
        return statistics

    def group_stats(self, profile: str = ONLY) -> dict[str, Any]:
        """The client's get_traffic_tg_stats(): "client" and "server" counters by template group."""
        names = self._client.get_tg_names(profile)
        groups: dict[str, Any] = self._client.get_traffic_tg_stats(
            names, skip_zero=False, pid_input=profile
        )
        return groups

    def clear_stats(self) -> None:
        """Count from zero from now on."""
        self._client.clear_stats()

    def stop(self) -> None:
        """Abort all flows without notice to their peers, and return when the server is idle."""
        self._client.stop(pid_input="*")

    def disconnect(self) -> None:
        """Stop the traffic, release the ports and end the connection."""
        if "_client" in self.__dict__:  # else there never was one
            self._client.disconnect()

    @called(once=True)
    def supports(self, method: str) -> bool:
        """Whether the connected server has this RPC method; TRex lacks those of astf-engine."""
        if self._methods is None:
            raise StackcostError("there is no connection yet")
        return method in self._methods

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result of one RPC method, even if the TRex API does not cover it."""
        from trex.astf.api import TRexError

        owner = {"handler": self._client.handler}  # asked for by methods that change something
        reply = self._client._transmit(method, owner | params)
        if not reply:
            raise TRexError(reply.err())
        return reply.data()

    def _read(self, path: Path, tunables: dict[str, Any] | None) -> Any:
        sys.argv[0] = str(path)  # the name its argument parser complains under
        printed = io.StringIO()
        with redirect_stderr(printed):
            profile = self._load_profile_file(str(path), **(tunables or {}))
        if profile is None:  # it left by SystemExit, as argument parsers do
            raise ValueError(printed.getvalue().strip() or f"{path} ended without a profile")
        return profile


def explain(error: Exception) -> StackcostError:
    """An error in words for a user; of a traceback only the last line and the profile's line."""
    if isinstance(error, StackcostError):
        return error
    text = COLOURS.sub("", str(error)).strip() or type(error).__name__
    if "Traceback follows" not in text:
        return StackcostError(text)
    places = [place for place in PLACE.findall(text) if "lbr_trex_client" not in place[0]]
    where = f" ({places[-1][0]}, line {places[-1][1]})" if places else ""
    return StackcostError(text.splitlines()[-1] + where)
