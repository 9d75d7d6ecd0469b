"""Pictures that stand in a page, whose style gives the colours.

Labels are in a fixed-width font, so that the room they take is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

COLUMN = 7.3  # pixels of a character of the 12-pixel font


def picture(
    ident: str, size: tuple[float, float], title: str, told: str, body: Sequence[str]
) -> str:
    """Wrap what is drawn into a picture that tells what it shows to those who don't see it.

    Args:
        ident: starts the ids of the picture's elements.
        size: width and height, in pixels.
        title: what it is of.
        told: what it shows, in words.
        body: elements of SVG.
    """
    wide, high = (math.ceil(each) for each in size)
    return (
        f'<svg role="img" aria-labelledby="{ident}-title" aria-describedby="{ident}-desc" '
        f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">\n'
        f'<title id="{ident}-title">{escape(title)}</title>\n'
        f'<desc id="{ident}-desc">{escape(told)}</desc>\n' + "\n".join(body) + "\n</svg>"
    )
