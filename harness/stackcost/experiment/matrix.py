"""The systems that an experiment compares: its servers, with each combination of its matrix."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stackcost.bed.tuning import tier_lacks, tier_of
from stackcost.clients import program
from stackcost.contracts.server import Server
from stackcost.contracts.stack import KERNEL
from stackcost.contracts.system import NETWORK, Setting, System
from stackcost.contracts.tls import TlsSettings, VariedTls
from stackcost.contracts.tuning import Tier
from stackcost.experiment.http_schema import HttpLoad
from stackcost.experiment.schema import Experiment, Matrix
from stackcost.servers.registry import server_class, server_name
from stackcost.stacks import on_stack, stack_lacks, stack_of_clients


@dataclass(frozen=True, slots=True)
class Variant:
    """A system with the experiment that measures it alone.

    `server`: the entry in the experiment. `experiment`: the experiment without a matrix, with the
    values of this variant. `lacking`: why it cannot be measured on this machine, or empty; another
    host of the server says that itself (`stackcost.session.sides.lacking_there`). `lacking_tests`:
    of tests of HTTP clients, by name, why this system or this machine cannot make them.
    """

    system: System
    server: str
    experiment: Experiment
    lacking: str = ""
    lacking_tests: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The system's name."""
        return self.system.name


def variants(experiment: Experiment) -> list[Variant]:
    """All variants in the order of the file, including those that cannot be measured here."""
    return [each for server in experiment.servers for each in _variants_of(server, experiment)]


def lacks(server: str, stack: str, tier: Tier, cores: int, interfaces: Sequence[str] = ()) -> str:
    """Why this machine cannot measure a server with these settings; empty if it can.

    `cores`: number of the server's cores. `interfaces`: of this machine; empty for veth pairs.
    """
    kind = server_class(server)
    why = kind.lacks()
    if kind.kernel_stack:
        why = why or stack_lacks(stack, interfaces) or tier_lacks(tier, cores)
    return why


def _variants_of(server: str, experiment: Experiment) -> list[Variant]:
    matrix, own, workload = experiment.matrix, experiment.server, experiment.workload
    everything = len(experiment.cores.server)
    name, found = server_name(server), []
    stacked = matrix.stack or own.stack != KERNEL
    tunable = (
        matrix.tuning
        or matrix.cores
        or matrix.workers
        or matrix.reuseport
        or matrix.certificate
        or tier_lacks(tier_of(own.tuning), everything)
    )
    tuned = bool(tunable or stacked) and server_class(server).kernel_stack
    numbers: list[int | None] = [*matrix.workers] if tuned else []
    with_tls: list[VariedTls | None] = [*matrix.tls] or [None]
    listens = tuned and server_class(server).takes_reuseport
    ruled = bool(matrix.rules) and server_class(server).takes_rules
    for (
        stack,
        tuning,
        cores,
        workers,
        reuseport,
        key,
        tls,
        length,
        rules,
        network,
    ) in itertools.product(
        (tuned and matrix.stack) or [own.stack if tuned else KERNEL],
        (tuned and matrix.tuning) or [own.tuning],
        (tuned and matrix.cores) or [everything],
        numbers or [own.workers],
        (listens and matrix.reuseport) or [own.reuseport],
        (tuned and matrix.certificate) or [own.certificate],
        with_tls,
        matrix.response_bytes or [workload.response_bytes],
        (ruled and matrix.rules) or [experiment.dut.rules],
        _networks(matrix),
    ):
        varied: dict[str, Setting | None] = {
            "tuning": tier_of(tuning).name if tuned and matrix.tuning else None,
            "cores": cores if tuned and matrix.cores else None,
            "workers": workers if numbers else None,
            "reuseport": reuseport if listens and matrix.reuseport else None,
            "certificate": key if tuned and matrix.certificate else None,
            "tls": tls,
            "response_bytes": length if matrix.response_bytes else None,
            "rules": rules if ruled else None,
            **{f"{NETWORK}{setting}": value for setting, value in network.items()},
        }
        settings = {setting: value for setting, value in varied.items() if value is not None}
        http = experiment.http
        if http:
            clients = stack_of_clients(stack, http.stack)
            http = http.model_copy(update={"stack": clients})
        asked = TlsSettings.varied(experiment.load.tls, tls) if tls else experiment.load.tls
        resolved = experiment.model_copy(
            update={
                "servers": [server],
                "matrix": Matrix(),
                "cores": experiment.cores.model_copy(
                    update={"server": experiment.cores.server[:cores]}
                ),
                "server": own.model_copy(
                    update={
                        "stack": stack,
                        "tuning": tuning,
                        "workers": workers,
                        "reuseport": reuseport,
                        "certificate": key,
                    }
                ),
                "load": experiment.load.model_copy(update={"tls": asked}),
                "http": http,
                "workload": workload.model_copy(update={"response_bytes": length}),
                "dut": experiment.dut.model_copy(update={"rules": rules}),
                "network": experiment.network.model_copy(update=network),
            }
        )
        lacking = ""
        if not experiment.server_host:
            here = KERNEL if experiment.counted else stack  # a guest has its own
            lacking = lacks(server, here, tier_of(tuning), cores, experiment.server_interfaces)
        if asked and not server_class(server).takes_tls:
            lacking = lacking or f"{name} does not serve the port of a profile over TLS"
        if http:
            lacking = lacking or stack_lacks(http.stack)
        system = System.of(on_stack(name, stack), settings)
        tests = {} if lacking else _lacking_tests(server_class(server), http)
        found.append(Variant(system, server, resolved, lacking, tests))
    return found


def _networks(matrix: Matrix) -> list[dict[str, float]]:
    """Every combination of settings of the network; the empty one where none varies."""
    every = itertools.product(*matrix.network.values())
    return [dict(zip(matrix.network, values, strict=True)) for values in every]


def _lacking_tests(kind: type[Server], http: HttpLoad | None) -> dict[str, str]:
    """Of each test that cannot be made, why."""
    if http is None:
        return {}
    reasons = {
        test.name: program(http.program_of(test)).lacks()
        or kind.lacks_version(test.version)
        or (kind.lacks_resumption() if test.resumed else "")
        for test in http.tests
    }
    return {name: why for name, why in reasons.items() if why}
