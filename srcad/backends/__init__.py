"""Targets other than plain Python: what one cannot express, and what it gets instead."""

from srcad.ir.types import Dim

ROOM = Dim("room")
"""The size of an array that a back end keeps a tape in: positions are right by construction."""
