"""Generated text from process to process: what is used again, and what never is."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import srcad

ROOT = Path(srcad.__file__).parent.parent

HELPER = """
    K = 2
    W = 3.0

    def square(x):
        return x * x * K
"""

MODEL = """
    import numpy as np
    import helper
    from helper import square

    SCALE = 2.0
    A = np.ones(3)
    FORMS = {"f": square}

    def energy(x, y=2.0):
        return np.sum(square(x) * A) * SCALE * helper.W + y

    def outer(c):
        def inner(z):
            return z * c
        return inner

    def table(x):
        return FORMS["f"](x) + abs(x)

    def halves(x, y):
        return np.sum(x[:len(y)] * y) + np.sum(np.sin(x[len(y):]))

    class Spring:
        n = 2

        def __init__(self, a):
            self.a = a

        def force(self, x):
            return self.a * x * self.n

    def loops(x):
        s = 1.0
        while s < 10.0:
            s = s * x
        return s
"""

MAIN = """
    import sys
    import numpy as np
    import srcad, helper, model
    from srcad import pipeline

    count = 0
    real = pipeline.lower_function

    def counted(*args, **keywords):
        global count
        count += 1
        return real(*args, **keywords)

    pipeline.lower_function = counted

    def local(x):
        return x * x * model.SCALE

    def times(x):
        return x * 30

    def pushes(self, x):
        return x * 100

    exec(sys.argv[1])
    x = np.arange(3.0)
    found = [
        srcad.grad(model.energy)(x).tolist(),
        float(srcad.grad(model.energy)(2.0)),
        float(srcad.vjp(model.energy, 2.0)[1](1.0)[0]),
        float(srcad.jvp(model.energy, (2.0,), (1.0,))[1]),
        srcad.grad(model.outer(3.0))(1.0),
        srcad.grad(model.table)(2.0),
        srcad.grad(model.Spring(2.0).force)(1.0),
        srcad.hessian(model.energy)(x).tolist(),
        srcad.grad(local)(3.0),
        srcad.vjp(model.loops, 2.0)[1](1.0),
        srcad.grad(srcad.grad(model.loops))(2.0),
        *(srcad.grad(model.halves)(np.arange(n), x).tolist() for n in (6.0, 7.0)),
    ]
    d = srcad.grad(model.energy)
    d(2.0)
    import json
    print(json.dumps([found, count, d.source, d.ir], default=float))
"""


def written(folder):
    for name, text in (("helper", HELPER), ("model", MODEL), ("main", MAIN)):
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    return folder


@pytest.fixture
def place(tmp_path):
    return written(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A place whose cache has been filled, and what was found then."""
    folder = written(tmp_path_factory.mktemp("shared"))
    return folder, run(folder)[0]


def run(place, before="", cache="cache", seed="0"):
    environment = os.environ | {
        "SRCAD_CACHE_DIR": cache if cache == "off" else str(place / cache),
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "main.py", before],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_lowers_nothing(place):
    found, count, source, ir = run(place)
    assert count == 13
    again, none, same_source, same_ir = run(place, seed="7")
    assert again == found
    assert none == 0
    assert (same_source, same_ir) == (source, ir)
    assert list((place / "cache" / "modules").glob("energy_grad_*.py"))
    off, count, _, _ = run(place, cache="off")
    assert (off, count) == (found, 13)


def test_off_writes_nothing(place):
    run(place, cache="off")
    assert {p.name for p in place.iterdir()} == {"helper.py", "main.py", "model.py"}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_edited_helper_module(place):
    first = run(place)[0]
    edit(place / "helper.py", "x * x * K", "x * x * x * K")
    edited, count, _, _ = run(place)
    assert count > 0
    assert edited == run(place, cache="off")[0] != first
    edit(place / "helper.py", "K = 2", "K = 3")
    assert run(place)[0] == run(place, cache="off")[0]


@pytest.mark.parametrize(
    "change",
    [
        "helper.K = 5",
        "helper.W = 7",
        "model.square = times",
        "model.FORMS['f'] = times",
        "model.A = np.ones((3, 1))",
        "model.SCALE = np.float32(2.0)",
        "model.Spring.n = 9",
        "model.Spring.force = pushes",
        "model.abs = times",
        "model.energy.__defaults__ = (np.ones(3).sum(),)",
    ],
)
def test_names_that_lead_elsewhere(shared, change):
    place, first = shared
    changed = run(place, change)[0]
    assert changed == run(place, change, cache="off")[0]
    if "defaults__ = (" not in change and "float32" not in change:
        assert changed != first


def test_what_was_kept_first_is_still_right(shared):
    place, first = shared
    assert run(place)[0] == first


def test_data_is_read_anew(place):
    run(place)
    found, count, _, _ = run(place, "model.SCALE = 10.0; model.A[:] = 3.0")
    assert count == 0
    assert found == run(place, "model.SCALE = 10.0; model.A[:] = 3.0", cache="off")[0]


def entries(place):
    return sorted((place / "cache" / "entries").iterdir())


def test_tampered_entries_are_not_used(place):
    first = run(place)[0]
    for entry in entries(place):
        text = entry.read_text()
        assert "return" in text
        entry.write_text(text.replace("return", "return 0.0 *", 1))
    found, count, _, _ = run(place)
    assert (found, count) == (first, 13)


def test_entries_under_another_name_are_not_used(place):
    first = run(place)[0]
    files = entries(place)
    contents = [f.read_bytes() for f in files]
    for file, content in zip(files, [*contents[1:], contents[0]], strict=True):
        file.write_bytes(content)
    found, count, _, _ = run(place)
    assert (found, count) == (first, 13)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="access is not told by mode here")
def test_entries_that_others_may_write_are_not_used(place):
    first = run(place)[0]
    for entry in entries(place):
        entry.chmod(0o666)
    found, count, _, _ = run(place)
    assert (found, count) == (first, 13)
    (place / "cache" / "entries").chmod(0o777)
    found, count, _, _ = run(place)
    assert (found, count) == (first, 13)


def test_modules_that_were_tampered_with_are_not_run(place):
    first = run(place)[0]
    for module in (place / "cache" / "modules").iterdir():
        if module.suffix == ".py":
            module.write_text(module.read_text().replace("return", "return 0.0 *"))
    assert run(place)[0] == first


def test_user_rules_are_part_of_the_key(place):
    rule = "import rule"
    (place / "rule.py").write_text(
        "import srcad, helper\n\n\n"
        "@srcad.rules.differential(helper.square)\n"
        "def square(x, *, dx):\n"
        "    return 1000.0 * dx\n"
    )
    first = run(place)[0]
    with_rule, count, _, _ = run(place, rule)
    assert count > 0
    assert with_rule[1] != first[1]
    assert run(place)[0] == first
    assert run(place, rule)[:2] == [with_rule, 0]
