"""The generators of an experiment: what each is, and its part of the load."""

from collections.abc import Sequence
from dataclasses import replace

from stackcost.contracts.addresses import load_address
from stackcost.contracts.endpoint import ClientGateway
from stackcost.experiment.hosts import GeneratorSide
from stackcost.experiment.schema import Experiment
from stackcost.sides.plans import GeneratorPlan
from stackcost.sides.shares import divide_clients, networks_of, parts_of


def generators_of(experiment: Experiment) -> list[GeneratorPlan]:
    """At least one, without the wiring of the bed; a single one makes the whole load."""
    bed, workload, cores = experiment.bed, experiment.workload, experiment.cores.load
    wanted = bed.loads if bed else experiment.generators
    parts = parts_of([each.share for each in wanted] or [1])
    ranges = divide_clients(workload.clients, parts)
    sides = [each if isinstance(each, GeneratorSide) else None for each in wanted] or [None]
    own_cores = [each.cores for each in wanted] or [[]]
    return [
        GeneratorPlan(
            number=at,
            timeout_factor=experiment.timeout_factor,
            name="generator" if len(parts) == 1 else f"generator-{at + 1}",
            host=side.host or "" if side else "",
            part=parts[at],
            clients=ranges[at],
            cpus=tuple(own_cores[at] or cores),
            interfaces=tuple(side.interfaces) if side else (),
        )
        for at, side in enumerate(sides)
    ]


def gateways_of(experiment: Experiment) -> tuple[ClientGateway, ...]:
    """The generators after the first one, as the server sees them."""
    return tuple(
        ClientGateway(load_address(each.number), networks_of(each.clients))
        for each in generators_of(experiment)[1:]
    )


def with_macs(gateways: Sequence[ClientGateway], macs: Sequence[str]) -> tuple[ClientGateway, ...]:
    """The gateways with the MAC addresses of their interfaces, in the same order."""
    return tuple(replace(each, mac=mac) for each, mac in zip(gateways, macs, strict=True))
