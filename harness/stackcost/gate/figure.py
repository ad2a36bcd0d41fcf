"""The figures that a gate can judge; the registry of figures says what they are."""

from typing import Literal, get_args

from stackcost.analysis.figures import ceilings, gate
from stackcost.analysis.figures.figure import Declared

Figure = Literal["rate for whole cores", "ceiling"]
WHOLE_CORES: Figure = "rate for whole cores"
CEILING: Figure = "ceiling"
FIGURES: tuple[Figure, ...] = get_args(Figure)
DECLARED: dict[Figure, Declared] = {
    WHOLE_CORES: gate.WHOLE_CORES,
    CEILING: ceilings.OF_CEILINGS["connections"][0],
}
UNIT = gate.WHOLE_CORES.unit  # of both
