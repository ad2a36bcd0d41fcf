"""The figures that a gate can judge, both in connections/s."""

from typing import Literal, get_args

Figure = Literal["rate for whole cores", "ceiling"]
WHOLE_CORES: Figure = "rate for whole cores"
CEILING: Figure = "ceiling"
FIGURES: tuple[Figure, ...] = get_args(Figure)
UNIT = "connections/s"  # of both
