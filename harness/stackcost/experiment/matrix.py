"""The systems that an experiment compares: its servers, with each combination of its matrix."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from stackcost.bed.tuning import tier_lacks, tier_of
from stackcost.clients import program
from stackcost.contracts.server import Server
from stackcost.contracts.stack import KERNEL
from stackcost.contracts.system import NETWORK, Setting, System
from stackcost.contracts.tls import TlsSettings
from stackcost.contracts.tuning import Tier
from stackcost.experiment.http_schema import HttpLoad
from stackcost.experiment.matrix_section import Matrix
from stackcost.experiment.schema import Experiment
from stackcost.servers.registry import server_class, server_name
from stackcost.stacks import on_stack, stack_lacks, stack_of_clients

Part = TypeVar("Part", bound=BaseModel)
# Which servers a setting of the matrix varies; others keep what the experiment says. In the order
# of the parts of a system's name; the network's settings come last.
VARIES: dict[str, Callable[[type[Server]], bool]] = {
    "stack": lambda kind: kind.kernel_stack,
    "tuning": lambda kind: kind.kernel_stack,
    "cores": lambda kind: kind.kernel_stack,
    "workers": lambda kind: kind.kernel_stack,
    "reuseport": lambda kind: kind.kernel_stack and kind.takes_reuseport,
    "certificate": lambda kind: kind.kernel_stack,
    "tls": lambda kind: True,
    "response_bytes": lambda kind: True,
    "rules": lambda kind: kind.takes_rules,
    "kernel": lambda kind: True,
}
OF_SERVER = ("stack", "tuning", "workers", "reuseport", "certificate")  # of the section server


@dataclass(frozen=True, slots=True)
class Variant:
    """A system with the experiment that measures it alone.

    `server`: the entry in the experiment. `kind`: its class. `experiment`: the experiment without a
    matrix, with the values of this variant. `lacking`: why it cannot be measured on this machine,
    or empty; another host of the server says that itself (`lacking_there` of a session).
    `lacking_tests`: of tests of HTTP clients, by name, why this system or this machine cannot make
    them.
    """

    system: System
    server: str
    kind: type[Server]
    experiment: Experiment
    lacking: str = ""
    lacking_tests: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The system's name."""
        return self.system.name


def variants(experiment: Experiment) -> list[Variant]:
    """All variants in the order of the file, including those that cannot be measured here."""
    found = []
    for server in experiment.servers:
        axes = _axes(server_class(server), experiment.matrix)
        for values in itertools.product(*axes.values()):
            found.append(_variant(server, experiment, dict(zip(axes, values, strict=True))))
    return found


def lacks(
    kind: type[Server], stack: str, tier: Tier, cores: int, interfaces: Sequence[str] = ()
) -> str:
    """Why this machine cannot measure a server with these settings; empty if it can.

    `cores`: number of the server's cores. `interfaces`: of this machine; empty for veth pairs.
    """
    why = kind.lacks()
    if kind.kernel_stack:
        why = why or stack_lacks(stack, interfaces) or tier_lacks(tier, cores)
    return why


def _axes(kind: type[Server], matrix: Matrix) -> dict[str, list[Setting]]:
    """The values of each setting that varies for a server of this kind, by its key."""
    own = {name: getattr(matrix, name) for name, varies in VARIES.items() if varies(kind)}
    network = {f"{NETWORK}{name}": values for name, values in matrix.network.items()}
    return {name: values for name, values in (own | network).items() if values}


def _variant(server: str, experiment: Experiment, values: Mapping[str, Any]) -> Variant:
    """The system with these values of what varies, and what it lacks here."""
    kind, name, http = server_class(server), server_name(server), experiment.http
    counted = experiment.counted
    varied = {setting: values[setting] for setting in OF_SERVER if setting in values}
    own = experiment.server.model_copy(update=varied)
    if not kind.kernel_stack:
        own = own.model_copy(update={"stack": KERNEL})
    cores = experiment.cores.server[: values.get("cores")]
    asked = experiment.load.tls
    if "tls" in values:
        asked = TlsSettings.varied(asked, values["tls"])
    if http:
        http = http.model_copy(update={"stack": stack_of_clients(own.stack, http.stack)})
    settings = {setting: value for setting, value in values.items() if setting != "stack"}
    if "tuning" in settings:
        settings["tuning"] = tier_of(own.tuning).name
    system = System.of(on_stack(name, own.stack), settings)
    alone = experiment.model_copy(
        update={
            "servers": [server],
            "matrix": Matrix(),
            "cores": experiment.cores.model_copy(update={"server": cores}),
            "server": own,
            "load": experiment.load.model_copy(update={"tls": asked}),
            "http": http,
            "workload": _with(experiment.workload, values, "response_bytes"),
            "dut": _with(experiment.dut, values, "rules"),
            "network": experiment.network.model_copy(update=system.network),
            "counted": counted and _with(counted, values, "kernel"),
        }
    )
    lacking = ""
    if not experiment.server_host:
        here = KERNEL if counted else own.stack  # a guest has its own
        tier = tier_of(own.tuning)
        lacking = lacks(kind, here, tier, len(cores), experiment.server_interfaces)
    if asked and not kind.takes_tls:
        lacking = lacking or f"{name} does not serve the port of a profile over TLS"
    if http:
        lacking = lacking or stack_lacks(http.stack)
    tests = {} if lacking else _lacking_tests(kind, http)
    return Variant(system, server, kind, alone, lacking, tests)


def _with(section: Part, values: Mapping[str, Any], setting: str) -> Part:
    """The section with the value of this setting, if it varies."""
    return section.model_copy(update={setting: values[setting]} if setting in values else {})


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
