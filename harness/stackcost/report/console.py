"""The terminal: what is printed is text, whatever a stored run says."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from stackcost.report.plain import visible


class PlainConsole(Console):
    """A console that knows no markup, and shows control characters instead of sending them.

    Its own ones (colours, a line that is drawn again) are made after this, or marked as such.
    """

    def __init__(self, **options: Any):
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Pieces of text with their styles."""
        for piece in super().render(renderable, options):
            if piece.control:
                yield piece
            else:
                yield Segment(visible(piece.text), piece.style)
