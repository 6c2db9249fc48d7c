"""Files that only their owner may write: how they are made, and how they are trusted.

What srcad writes to disk is run again later, so nobody else may have had a hand in it. A directory
is used only if it belongs to this user and no one else may write in it; a file is read only if that
holds for it too and it is no symbolic link.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

__all__ = ["private_directory", "read_private", "write_private"]


def private_directory(path: Path) -> bool:
    """Make `path` a directory of this user alone; False if it cannot be had or trusted.

    An existing directory is taken as it is: its mode is never changed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and _is_ours(found) and os.access(path, os.W_OK | os.X_OK)


def read_private(path: Path) -> bytes | None:
    """The content of a file that only this user can have written, else None."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not _is_ours(found):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def write_private(path: Path, content: bytes) -> bool:
    """Put `content` at `path` at once: other processes see all of it or what was there before.

    False if it could not be written; `path` is then as it was.
    """
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    except OSError:
        return False
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return False
    return True


def _is_ours(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):  # Windows: access is not told by owner and mode
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
