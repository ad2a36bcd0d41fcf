"""Flame graphs as SVG: a box for each function, as wide as its microseconds per connection.

A box lies on the function that called it, and the kinds of time are at the bottom. There is no
script: the length, in a title, appears when the mouse is over a box.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from stackcost.report.plain import visible
from stackcost.report.words import number

WIDTH, ROW, LETTER = 1000.0, 15, 6.0  # of the picture's units
DEEPEST = 100  # functions; the collector takes 64
LEAST = 1.0  # a box that is narrower is not drawn
LEAST_TEXT = 44.0  # a box that is narrower has no text
OWN = "#a6d8b0"
COLOURS = {**dict.fromkeys(("user", "stack", "copying", "busy"), OWN), "irq": "#e3b5d1"}
SYSTEM, SOFTIRQ = "#a9cbe8", "#f3cf95"
SYSTEM_KINDS = ("system", "sending")
MORE, LESS, SAME = (213, 94, 0), (0, 114, 178), (238, 238, 238)


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG element, and the words above it."""

    title: str
    svg: str


@dataclass(slots=True)
class Box:
    """A function in its place, with all that it called. `us`: on one system or on two."""

    name: str
    us: tuple[float, ...]
    width: float = 0.0
    called: dict[str, "Box"] = field(default_factory=dict)


def flame(title: str, stacks: Mapping[str, float]) -> Drawing:
    """Of one system: microseconds per connection by stack."""
    return _drawing(title, {stack: (us,) for stack, us in stacks.items()})


def differential_flame(
    title: str, first: Mapping[str, float], second: Mapping[str, float]
) -> Drawing:
    """Of two systems: a box is as wide as the longer time; orange where the first takes more."""
    stacks = {name: (first.get(name, 0.0), second.get(name, 0.0)) for name in {**first, **second}}
    return _drawing(title, stacks)


def _drawing(title: str, stacks: Mapping[str, tuple[float, ...]]) -> Drawing:
    root = _tree(stacks)
    scale = WIDTH / (root.width or 1.0)
    boxes = list(_placed(root, 0.0, 0, scale))
    height = (1 + max((depth for _, _, depth, _ in boxes), default=0)) * ROW
    drawn = "".join(_svg(*box, height=height, root=root, scale=scale) for box in boxes)
    return Drawing(
        title,
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height}" role="img" '
        f'aria-label="flame graph: {escape(visible(title))}" font-family="sans-serif" '
        f'font-size="10" '
        f'style="min-width:50rem">{drawn}</svg>',
    )


def _tree(stacks: Mapping[str, tuple[float, ...]]) -> Box:
    sides = len(next(iter(stacks.values()), (0.0,)))
    root = Box("all", (0.0,) * sides)
    for stack, us in stacks.items():
        at, longer = root, max(us)
        _add(at, us, longer)
        for name in stack.split(";")[:DEEPEST]:
            at = at.called.setdefault(name, Box(name, (0.0,) * sides))
            _add(at, us, longer)
    return root


def _add(box: Box, us: tuple[float, ...], width: float) -> None:
    box.us = tuple(old + new for old, new in zip(box.us, us, strict=True))
    box.width += width


def _placed(
    box: Box, left: float, depth: int, scale: float, kind: str = ""
) -> Iterator[tuple[Box, float, int, str]]:
    """Each box that is wide enough, with its left side, its row, and its kind of time."""
    yield box, left, depth, kind
    for each in sorted(box.called.values(), key=lambda each: -each.width):
        if each.width * scale >= LEAST:
            yield from _placed(each, left, depth + 1, scale, kind or each.name)
        left += each.width * scale


def _svg(
    box: Box, left: float, depth: int, kind: str, *, height: int, root: Box, scale: float
) -> str:
    width, top = box.width * scale, height - (depth + 1) * ROW
    letters = int((width - 4) / LETTER)
    name = escape(visible(box.name))
    text = ""
    if width >= LEAST_TEXT:
        shown = escape(visible(box.name[:letters]))
        text = f'<text x="{left + 2:.1f}" y="{top + 11}">{shown}</text>'
    return (
        f"<g><title>{name}: {_words(box, root)}</title>"
        f'<rect x="{left:.1f}" y="{top}" width="{max(width - 0.4, 0.4):.1f}" height="{ROW - 1}" '
        f'fill="{_colour(box, kind, root)}"/>{text}</g>'
    )


def _words(box: Box, root: Box) -> str:
    if len(box.us) == 1:
        return f"{number(box.us[0])} us, {box.us[0] / (root.us[0] or 1.0):.1%}"
    first, second = box.us
    return f"{number(first)} us against {number(second)} us, {first - second:+.2f} us"


def _colour(box: Box, kind: str, root: Box) -> str:
    if len(box.us) == 1:
        return COLOURS.get(kind, SYSTEM if kind in SYSTEM_KINDS or not kind else SOFTIRQ)
    share = (box.us[0] - box.us[1]) / (max(box.us) or 1.0)
    to = MORE if share > 0 else LESS
    mixed = (
        round(same + (full - same) * abs(share) * 0.7) for same, full in zip(SAME, to, strict=True)
    )
    return "#" + "".join(f"{each:02x}" for each in mixed)
