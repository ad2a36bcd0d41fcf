"""What a generator is to be, as data: it may be made in another process or on another host."""

from dataclasses import dataclass

from stackcost.contracts.wiring import Wiring


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorPlan:
    """One generator and the bed that it stands on.

    `name`: of the generator, for messages and files. `number`: among several, from 0 on; the first
    one is also the servers behind a device. `wiring`: of the whole bed. `cpus`: cores of the
    generator. `timeout_factor`: factor for all time limits. `interfaces`: of its host, in place of
    veth pairs; empty: the bed of one machine. `host`: its name in the experiment, if it is another
    one.
    """

    name: str
    number: int
    wiring: Wiring
    cpus: tuple[int, ...]
    timeout_factor: float
    interfaces: tuple[str, ...] = ()
    host: str = ""
