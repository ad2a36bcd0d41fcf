"""Text of stored runs as text: nothing in it commands a terminal, or is markup of a page.

A stored run may be anybody's. Its strings (titles, names, reasons, versions) go through here.
"""

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Control characters but line feed and tab, signs that turn the direction of writing, and halves of
# surrogate pairs, which no output can encode.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_PICTURES, _DELETE, _OTHER = 0x2400, "\u2421", "\ufffd"  # Unicode's block "Control Pictures"


def visible(text: str) -> str:
    """A text with a sign in the place of each character that would control a terminal."""
    return _UNSEEN.sub(_picture, text)


def cell_html(text: str) -> str:
    """A cell as the text of an HTML element or attribute."""
    return escape(visible(text))


def sentences_html(text: str) -> str:
    """Sentences with bold words, code, lists and headings as HTML; everything else is text."""
    return _markdown().render(visible(text))


@cache
def _markdown() -> "MarkdownIt":
    """What the suite's own sentences use of Markdown. Links, pictures and HTML are not among it.

    Imported when it is needed: that takes an eighth of a command's start.
    """
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable(["emphasis", "backticks", "list", "heading"])


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < ord(" "):
        return chr(_PICTURES + code)
    return _DELETE if code == 0x7F else _OTHER
