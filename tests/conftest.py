"""Which tests say the same on every version of Python: not those of how source is read."""

from pathlib import Path

import pytest

ANYWHERE = (
    "ir",
    "passes",
    "rules",
    "backends/test_loops_zoo.py",  # the loops are made of the same operations
    "test_benchmarks.py",
    "test_fuzz.py",  # its programs are written of what the zoo has
    "test_fuzz_arrays.py",
    "zoo/test_coverage.py",
)
HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {HERE / name for name in ANYWHERE}
    for item in items:
        if not places.isdisjoint((item.path, *item.path.parents)):
            item.add_marker("anywhere")
