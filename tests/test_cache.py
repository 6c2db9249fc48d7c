"""The cache gives back what was put in, and trusts nothing that others may have touched."""

import json
import multiprocessing
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

import srcad
from srcad import cache as cache_module
from srcad.cache import Cache, CacheKey, Entry, cache_directory, default_cache

KEY = CacheKey(("def f(x): return x", "vjp", "f8"))
ENTRY = Entry("def f_vjp(x):\n    return x  # größer\n", {"names": ["x"], "level": 2})

posix = pytest.mark.skipif(os.name != "posix", reason="owner and mode are POSIX")


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "deep" / "cache"


def extended(key, part):
    return CacheKey((*key.parts, part))


def stored(directory):
    """The file of the only entry, after putting it."""
    Cache(directory).put(KEY, ENTRY)
    [file] = (directory / "entries").iterdir()
    return file


def found(directory):
    """What another process would find."""
    return Cache(directory).get(KEY)


# ---- keys


def test_key_depends_on_every_part_and_where_it_ends():
    keys = [
        CacheKey(parts)
        for parts in [
            (),
            ("",),
            ("", ""),
            ("a", "b"),
            ("ab",),
            ("b", "a"),
            ("a", "b", ""),
            ("1:a",),
        ]
    ]
    assert len({key.digest for key in keys}) == len(keys)
    assert CacheKey(("a\ud800", "é")).digest


@pytest.mark.parametrize("part", [1, None, b"a", ("a",), object()])
def test_key_takes_text_only(part):
    with pytest.raises(TypeError, match="must be a str"):
        CacheKey(("a", part))


def test_key_is_the_same_in_every_process(tmp_path):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(digest_of_key) == KEY.digest


def digest_of_key():
    return KEY.digest


def test_key_depends_on_srcad_itself(tmp_path, monkeypatch):
    package = tmp_path / "srcad"
    package.mkdir()
    (package / "cache.py").write_text("")
    monkeypatch.setattr(cache_module, "__file__", str(package / "cache.py"))
    digests = [cache_module._compiler_digest()]
    (package / "rules.py").write_text("a = 1")
    digests.append(cache_module._compiler_digest())
    (package / "rules.py").write_text("a = 2")
    digests.append(cache_module._compiler_digest())
    (package / "rules.py").rename(package / "other.py")
    digests.append(cache_module._compiler_digest())
    assert len(set(digests)) == 4


# ---- put and get


def test_memory_only():
    cache = Cache(None)
    assert cache.get(KEY) is None
    cache.put(KEY, ENTRY)
    assert cache.get(KEY) == ENTRY
    cache.forget()
    assert cache.get(KEY) is None


def test_disk_outlives_the_memory(directory):
    stored(directory)
    other = Cache(directory)
    assert other.get(KEY) == ENTRY
    assert other.get(KEY) is other.get(KEY)
    assert other.get(extended(KEY, "more")) is None


def test_memory_and_disk_give_the_same(directory):
    cache = Cache(directory)
    cache.put(KEY, Entry("", {"shape": (1, 2), "inf": float("inf")}))
    assert cache.get(KEY).metadata == {"shape": [1, 2], "inf": float("inf")}
    assert found(directory) == cache.get(KEY)


def test_metadata_must_be_json(directory):
    cache = Cache(directory)
    with pytest.raises(TypeError):
        cache.put(KEY, Entry("", {"x": object()}))
    assert cache.get(KEY) is None


def test_the_last_put_counts(directory):
    cache = Cache(directory)
    cache.put(KEY, ENTRY)
    cache.put(KEY, Entry("pass"))
    assert cache.get(KEY) == found(directory) == Entry("pass")
    assert len(list((directory / "entries").iterdir())) == 1


@posix
def test_only_the_owner_has_access(directory):
    old = os.umask(0)
    try:
        file = stored(directory)
    finally:
        os.umask(old)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    cache.put(KEY, ENTRY)
    assert cache.get(KEY) == ENTRY


# ---- what is not trusted


def resealed(content, **changes):
    """An entry with changes and a digest that fits them."""
    record = json.loads(content.partition(b"\n")[2])
    body = json.dumps({**record, **changes}, sort_keys=True).encode()
    return cache_module._FORMAT + b" " + cache_module._checksum(body) + b"\n" + body


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.replace(b"return x", b"return y"),
        lambda content: content[:-1],
        lambda content: content + b" ",
        lambda content: b"",
        lambda content: content.partition(b"\n")[2],
        lambda content: content.replace(b"cache 1", b"cache 2"),
        lambda content: b"\xff\x00" * 100,
        lambda content: resealed(content, key=extended(KEY, "other").digest),
        lambda content: resealed(content, versions=["0", "0", "0"]),
        lambda content: resealed(content, source=None),
        lambda content: resealed(content, metadata=[]),
    ],
)
def test_damaged_entries_are_not_cached(directory, damage):
    file = stored(directory)
    content = file.read_bytes()
    assert resealed(content) == content
    assert damage(content) != content
    file.write_bytes(damage(content))
    assert found(directory) is None
    Cache(directory).put(KEY, ENTRY)
    assert found(directory) == ENTRY


def test_an_entry_under_another_name_is_not_cached(directory):
    file = stored(directory)
    other = extended(KEY, "other")
    file.rename(file.with_name(f"{other.digest}.json"))
    assert Cache(directory).get(other) is None


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_entries_that_others_may_write_are_not_cached(directory, mode):
    file = stored(directory)
    file.chmod(mode)
    assert found(directory) is None
    file.chmod(0o644)
    assert found(directory) == ENTRY


@posix
def test_links_are_not_followed(directory):
    file = stored(directory)
    moved = file.rename(directory / "moved.json")
    file.symlink_to(moved)
    assert found(directory) is None
    Cache(directory).put(KEY, ENTRY)
    assert not file.is_symlink()


@posix
def test_what_is_no_file_is_not_cached(directory):
    file = stored(directory)
    file.unlink()
    file.mkdir()
    assert found(directory) is None
    file.rmdir()
    os.mkfifo(file)
    assert found(directory) is None  # and does not wait for a writer


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_directories_that_others_may_write_are_not_used(directory, mode):
    file = stored(directory)
    file.parent.chmod(mode)
    assert found(directory) is None
    file.unlink()
    Cache(directory).put(KEY, ENTRY)
    assert not file.exists()


@posix
def test_directories_that_are_links_are_not_used(directory):
    file = stored(directory)
    real = file.parent.rename(directory / "real")
    file.parent.symlink_to(real)
    assert found(directory) is None


@posix
def test_foreign_owner_is_not_trusted(directory, monkeypatch):
    stored(directory)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert found(directory) is None


@posix
@pytest.mark.skipif(
    os.name == "posix" and os.geteuid() != 0, reason="only root can give files away"
)
def test_file_that_was_given_away_is_not_trusted(directory):
    file = stored(directory)
    os.chown(file, 12345, -1)
    assert found(directory) is None
    os.chown(file, 0, -1)
    assert found(directory) == ENTRY
    os.chown(file.parent, 12345, -1)
    assert found(directory) is None


# ---- at the same time


def write_many(directory, number):
    for _ in range(50):
        Cache(directory).put(KEY, Entry(f"# {number}\n" * 5000))
        entry = found(directory)
        if entry is None or len(set(entry.source.splitlines())) != 1:
            return "torn"
    return "whole"


def test_processes_never_see_half_an_entry(directory):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        results = pool.starmap(write_many, [(directory, number) for number in range(3)])
    assert results == ["whole"] * 3
    assert len(list((directory / "entries").iterdir())) == 1


def test_threads(directory):
    cache = Cache(directory)
    errors = []

    def run(number):
        for i in range(20):
            key = extended(KEY, str(i))
            cache.put(key, Entry(str(i)))
            if cache.get(key) != Entry(str(i)):
                errors.append((number, i))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(list((directory / "entries").iterdir())) == 20


# ---- where


@pytest.mark.parametrize("value", ["", "0", "off", "OFF", "  "])
def test_disk_can_be_switched_off(monkeypatch, value):
    monkeypatch.setenv("SRCAD_CACHE_DIR", value)
    assert cache_directory() is None
    assert default_cache().directory is None


def test_directory_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SRCAD_CACHE_DIR", str(tmp_path / "a"))
    assert cache_directory() == tmp_path / "a"
    first = default_cache()
    assert default_cache() is first
    monkeypatch.setenv("SRCAD_CACHE_DIR", "b")
    monkeypatch.chdir(tmp_path)
    assert default_cache().directory == tmp_path / "b"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SRCAD_CACHE_DIR", "~/c")
    assert cache_directory() == tmp_path / "c"


@pytest.mark.parametrize(
    ("platform", "xdg", "want"),
    [
        ("linux", None, ".cache/srcad"),
        ("linux", "relative", ".cache/srcad"),
        ("linux", "/x", "/x/srcad"),
        ("darwin", "/x", "Library/Caches/srcad"),
        ("win32", None, "AppData/Local/srcad/Cache"),
    ],
)
@posix
def test_directory_of_the_platform(monkeypatch, tmp_path, platform, xdg, want):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    for name, value in (("SRCAD_CACHE_DIR", None), ("XDG_CACHE_HOME", xdg)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert cache_directory() == tmp_path / want


def test_no_home(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SRCAD_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_directory() is None


def test_entries_of_this_package_are_found_by_its_own_digest():
    assert cache_module._versions()[0] == cache_module._compiler_digest()
    assert Path(cache_module.__file__).parent == Path(srcad.__file__).parent
