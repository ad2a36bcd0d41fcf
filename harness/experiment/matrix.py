"""The systems that an experiment compares: its servers, each at every combination of its matrix."""

import itertools
from dataclasses import dataclass

from harness.experiment.schema import (
    Experiment,
    Matrix,
    ServerName,
    length_part,
    workers_part,
)
from harness.tuning import tier_of


@dataclass(frozen=True, slots=True)
class Variant:
    """One server in one setting.

    `name`: the server's, and after a colon what the matrix varies, as "nginx/kernel:rps" or
    "nginx/kernel:stock,2-workers,32000-B". `experiment`: the same without a matrix, this
    variant's values in their places. `lacking`: why it cannot be measured here, else empty.
    """

    name: str
    server: ServerName
    experiment: Experiment
    lacking: str = ""

    def fits(self, wanted: str) -> bool:
        """Whether `wanted` is its name, or a part of it."""
        server, _, parts = wanted.partition(":")
        own = self.name.partition(":")[2].split(",")
        return server == self.server and set(filter(None, parts.split(","))) <= set(own)


def variants(experiment: Experiment) -> list[Variant]:
    """All variants in the order of the file; of those that lack something too."""
    return [each for server in experiment.servers for each in _variants_of(server, experiment)]


def pairs(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """Names of the systems that are divided, above and below the line, at the same response."""
    runnable = [each for each in variants(experiment) if not each.lacking]
    return tuple(
        (above.name, below.name)
        for above in runnable
        for below in runnable
        if above.fits(experiment.baseline)
        and below.fits(experiment.against)
        and above.name != below.name
        and above.experiment.workload.response_bytes == below.experiment.workload.response_bytes
    )


def _variants_of(server: ServerName, experiment: Experiment) -> list[Variant]:
    matrix, nginx, workload = experiment.matrix, experiment.nginx, experiment.workload
    tuned = server == "nginx/kernel"
    found = []
    numbers: list[int | None] = [*matrix.workers] if tuned else []
    for tuning, workers, length in itertools.product(
        (tuned and matrix.tuning) or [nginx.tuning],
        numbers or [nginx.workers],
        matrix.response_bytes or [workload.response_bytes],
    ):
        varied = [
            tier_of(tuning).name if tuned and matrix.tuning else "",
            workers_part(workers) if workers and numbers else "",
            length_part(length) if matrix.response_bytes else "",
        ]
        parts = ",".join(filter(None, varied))
        resolved = experiment.model_copy(
            update={
                "servers": [server],
                "matrix": Matrix(),
                "nginx": nginx.model_copy(update={"tuning": tuning, "workers": workers}),
                "workload": workload.model_copy(update={"response_bytes": length}),
            }
        )
        lacking = tier_of(tuning).lacks(len(experiment.cores.server)) if tuned else ""
        found.append(Variant(f"{server}:{parts}" if parts else server, server, resolved, lacking))
    return found
