"""Where an operation stands in the user's source, for errors."""

from __future__ import annotations

import linecache

from srcad.errors import Place
from srcad.ir.core import Loc


def place_of(loc: Loc | None) -> Place | None:
    """The place of a statement, with those of the calls that led to it."""
    if loc is None:
        return None
    text = linecache.getline(loc.file, loc.line).rstrip("\r\n") or loc.text
    return Place(loc.file, loc.line, loc.column, text, place_of(loc.caller))
