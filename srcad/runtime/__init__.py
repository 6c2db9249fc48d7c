"""What generated code may import: the few decisions that only run time can make.  NumPy only."""

from srcad.runtime.checks import require_number
from srcad.runtime.shapes import add, add_at, unbroadcast, zeros_like

__all__ = ["add", "add_at", "require_number", "unbroadcast", "zeros_like"]
