"""What was generated before: kept in memory, and on disk for the next process.

An entry holds the generated text and what the compiler wants to know about it. Entries on disk are
run when they are found, so each is trusted only if this user alone can have written it, it is whole
(it carries a digest of itself), it was written by this very srcad for this Python and NumPy, and
it says that it is the entry asked for. Anything else counts as not cached.

`SRCAD_CACHE_DIR` names the directory; set to nothing, `0` or `off` it keeps all in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from srcad.private_files import private_directory, read_private, write_private
from srcad.recent import Recent

__all__ = ["Cache", "CacheKey", "Entry", "cache_directory", "default_cache", "module_directory"]

_FORMAT = b"srcad cache 1"


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything that the generated text depends on, as text."""

    parts: tuple[str, ...]

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, str):  # a str() of an object may hold its address
                raise TypeError(f"a part of a cache key must be a str, not {type(part).__name__}")

    @property
    def digest(self) -> str:
        """Differs if any part differs, or srcad, Python or NumPy."""
        whole = hashlib.sha256()
        for part in (*_versions(), *self.parts):
            data = part.encode("utf-8", "surrogatepass")
            whole.update(b"%d:" % len(data))  # ("ab", "c") is not ("a", "bc")
            whole.update(data)
        return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """Generated text, and what is known about it."""

    source: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What JSON can hold; a tuple comes back as a list."""


class Cache:
    """A memory of entries, backed by a directory if there is one. Threads may share it."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self._entries: Recent[str, Entry] = Recent(256)
        self._lock = threading.Lock()

    def get(self, key: CacheKey) -> Entry | None:
        """The entry of `key`, if there is one that can be trusted."""
        digest = key.digest
        with self._lock:
            entry = self._entries.get(digest)
        if entry is None and (file := self._file(digest)) is not None:
            content = read_private(file)
            entry = None if content is None else _unpacked(content, digest)
            if entry is not None:
                with self._lock:
                    self._entries[digest] = entry
        return entry

    def put(self, key: CacheKey, entry: Entry) -> None:
        """Keep `entry`. A disk that cannot be written is no error: memory still has it."""
        digest = key.digest
        content = _packed(entry, digest)
        as_read_back = _unpacked(content, digest)
        assert as_read_back is not None
        with self._lock:
            self._entries[digest] = as_read_back
        if (file := self._file(digest)) is not None:
            write_private(file, content)

    def forget(self) -> None:
        """Empty the memory; the directory stays."""
        with self._lock:
            self._entries.clear()

    def _file(self, digest: str) -> Path | None:
        if self.directory is None:
            return None
        folder = self.directory / "entries"
        return folder / f"{digest}.json" if private_directory(folder) else None


def _packed(entry: Entry, digest: str) -> bytes:
    record = {
        "key": digest,
        "versions": _versions(),
        "metadata": dict(entry.metadata),
        "source": entry.source,
    }
    body = json.dumps(record, ensure_ascii=True, sort_keys=True, allow_nan=True).encode()
    return b"%s %s\n%s" % (_FORMAT, _checksum(body), body)


def _unpacked(content: bytes, digest: str) -> Entry | None:
    head, _, body = content.partition(b"\n")
    if head != b"%s %s" % (_FORMAT, _checksum(body)):
        return None
    match json.loads(body):  # it is whole, so it is what `_packed` wrote
        case {
            "key": key,
            "versions": versions,
            "metadata": dict(metadata),
            "source": str(source),
        } if key == digest and versions == _versions():
            return Entry(source, metadata)
    return None


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


@cache
def _versions() -> list[str]:
    return [_compiler_digest(), sys.version, np.__version__]


def _compiler_digest() -> str:
    """A digest of srcad itself: a version number stays the same while srcad is worked on."""
    package = Path(__file__).parent
    whole = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        whole.update(f"{file.relative_to(package).as_posix()}\0".encode())
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


# ---- where


def cache_directory() -> Path | None:
    """The directory for what outlives the process, from the environment; None for nothing."""
    named = os.environ.get("SRCAD_CACHE_DIR")
    if named is not None:
        named = named.strip()
        return None if named.lower() in ("", "0", "off") else Path(named).expanduser().absolute()
    try:
        home = Path.home()
    except RuntimeError:  # no home: a daemon
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "srcad"
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "srcad" / "Cache"
        )
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is to be ignored.
    return (Path(named) if os.path.isabs(named) else home / ".cache") / "srcad"


def module_directory() -> Path | None:
    """The directory of generated modules; None for none."""
    directory = cache_directory()
    return None if directory is None else directory / "modules"


_caches: dict[Path | None, Cache] = {}
_caches_lock = threading.Lock()


def default_cache() -> Cache:
    """The cache at `cache_directory()`; the same object as long as that does not change."""
    directory = cache_directory()
    with _caches_lock:
        return _caches.setdefault(directory, Cache(directory))
