"""What the command line itself has to complain about."""

from __future__ import annotations

from srcad.errors import SrcadError


class CommandError(SrcadError):
    """A command that cannot be carried out as it was given."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)  # `args` is what pickle and copy call us with
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"    {line}" for line in self.hint.splitlines())])
