"""README and docs are run: every code block, with the output that stands after it.

A block of `python` is run in the name space of those before it in the file, a block of `bash` as a
command of srcad; the block of `text` that follows has what is printed, or the error that ends it.
With SRCAD_UPDATE_DOCS=1 the outputs are written anew instead of compared.
"""

import contextlib
import copy
import importlib
import importlib.util
import io
import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from srcad.cli import main
from srcad.frontend.fence import table
from srcad.rules import registry

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
UPDATE = os.environ.get("SRCAD_UPDATE_DOCS") == "1"

NOT_RUN = ("python -m pip", "python -m pytest", "python -m benchmarks", ".ci/run")
"""Commands that change the machine, or that are run elsewhere: the test command by .ci/run."""


@dataclass(frozen=True)
class Fence:
    language: str
    text: str
    start: int
    end: int
    """Where the text stands in the page."""


def fences(page):
    found = re.finditer(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)
    return [Fence(m[1], m[2], m.start(2), m.end(2)) for m in found]


@pytest.fixture
def rules_as_before(monkeypatch):
    """Rules that a page declares are gone after it; those that come with a package are not."""
    for package in list(registry._later):
        importlib.import_module(package)
    assert registry.is_known(abs)
    for known in ("_rules", "_transposes", "_pullbacks", "_in_order", "_constant", "_digest"):
        monkeypatch.setattr(registry, known, copy.copy(getattr(registry, known)))


def marked(file):
    """A page as a parameter: that of Numba runs where Numba is."""
    if file.name != "numba.md":
        return pytest.param(file, id=file.name)
    missing = importlib.util.find_spec("numba") is None
    marks = [pytest.mark.numba, pytest.mark.skipif(missing, reason="needs Numba")]
    return pytest.param(file, id=file.name, marks=marks)


@pytest.mark.parametrize("file", [marked(page) for page in PAGES])
@pytest.mark.usefixtures("rules_as_before")
def test_code_blocks(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = file.read_text(encoding="utf-8")
    blocks = fences(page)
    names = {"__name__": f"docs_{file.stem.replace('-', '_')}"}
    monkeypatch.setitem(sys.modules, names["__name__"], type(sys)(names["__name__"]))
    changes = []
    for k, block in enumerate(blocks):
        assert block.language in ("python", "bash", "text"), block
        if block.language == "text":
            assert k > 0 and blocks[k - 1].language != "text", "output of nothing"
            continue
        printed = run(block, names, tmp_path / f"{file.stem.replace('-', '_')}_{k}.py")
        if printed is None:
            continue  # what it has printed elsewhere may follow
        following = blocks[k + 1] if k + 1 < len(blocks) else None
        if following is None or following.language != "text":
            assert not (printed or "").strip(), f"{block.text} prints, but its output is not shown"
        elif UPDATE:
            changes.append((following, printed))
        else:
            assert steady(following.text) == steady(printed)
    for block, printed in reversed(changes):
        page = page[: block.start] + printed + page[block.end :]
    if changes:
        file.write_text(page, encoding="utf-8")


def run(block, names, file):
    """What a block prints; None if it is not run."""
    out = io.StringIO()
    if block.language == "bash":
        commands = [c.strip() for line in block.text.splitlines() for c in line.split("&&")]
        own = [c for c in commands if not c.startswith(NOT_RUN)]
        if not own:
            return None
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            for command in own:
                program, *arguments = shlex.split(command)
                assert program == "srcad", f"{command} is not run by this test"
                main(arguments)
        return out.getvalue()
    file.write_text(block.text)  # srcad reads sources, so there has to be a file
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(block.text, str(file), "exec"), names)
        except Exception as error:
            kind = type(error)
            module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
            print(f"{module}{kind.__qualname__}: {error}")
            print("\n".join(getattr(error, "__notes__", ())), end="")
    stem = re.escape(file.stem.rpartition("_")[0])
    return re.sub(rf"{stem}_\d+\.py", "model.py", out.getvalue()).rstrip("\n") + "\n"


def steady(text):
    """Without what depends on the version of SciPy, the machine's arithmetic, and the cache."""
    text = re.sub(r"\b\d\.\de[-+]\d\d\b", "<difference>", text)
    text = text.replace("@numba.njit(cache=True)", "@numba.njit")  # as SRCAD_CACHE_DIR has it
    text = re.sub(r"_optimize\.py:\d+", "_optimize.py:<line>", text)
    return re.sub(r"# line \d+: r = xp", "# line <line>: r = xp", text)


def test_the_table_of_what_is_refused_is_that_of_the_compiler():
    file = ROOT / "docs" / "refused.md"
    page = file.read_text(encoding="utf-8")
    head = page[: page.index("| not supported |")]
    if UPDATE:
        file.write_text(head + table(), encoding="utf-8")
    else:
        assert page == head + table()


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_links_lead_somewhere(file):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", file.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (file.parent / target).exists(), target


def test_every_page_is_linked_from_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert f"(docs/{page.name})" in text


def test_the_readme_names_what_the_package_has():
    import srcad

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in srcad.__all__:
        if name not in ("Derivative", "__version__", "errors"):
            assert f"`{name}(" in text or f"`srcad.{name}`" in text, name


def test_the_test_command_is_marked_for_ci():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    k = lines.index("<!-- ci: test -->")
    assert lines[k + 1] == "```bash"
    assert "pytest" in lines[k + 2]
