"""From IR to the text of a Python module."""

from srcad.codegen.emit import Decorator, Emitted, emit

__all__ = ["Decorator", "Emitted", "emit"]
