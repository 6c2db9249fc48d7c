"""From IR to the text of a Python module."""

from srcad.codegen.emit import Emitted, emit

__all__ = ["Emitted", "emit"]
