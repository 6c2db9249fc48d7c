"""How errors print, and that they survive pickling and copying."""

import copy
import os
import pickle

import pytest

from srcad import errors
from srcad.errors import NotDifferentiable, Place, SourceError, SrcadError, UnsupportedValue

CLASSES = [
    getattr(errors, name)
    for name in errors.__all__
    if isinstance(getattr(errors, name), type) and issubclass(getattr(errors, name), SourceError)
]


def test_text_is_file_line_caret_hint():
    error = SourceError(
        Place("model.py", 14, 4, "    with timer():\n"),
        "'with' statements are not supported",
        "move the block out of the function",
    )
    assert str(error) == (
        "model.py:14: 'with' statements are not supported\n"
        "        with timer():\n"
        "        ^\n"
        "    move the block out of the function"
    )
    assert (error.file, error.line, error.column) == ("model.py", 14, 4)
    assert error.text == "    with timer():\n"


def test_the_calls_that_led_to_the_place_are_shown():
    place = Place("model.py", 1, 0, "run()")
    for number in range(2, 11):
        place = Place("model.py", number, 0, f"    call_{number}()\n", place)
    lines = str(SourceError(place, "no", "do that")).splitlines()
    assert lines == [
        "model.py:10: no",
        "        call_10()",
        "        ^",
        "    called at model.py:9: call_9()",
        "    called at model.py:8: call_8()",
        "    called at model.py:7: call_7()",
        "    … 3 calls",
        "    called at model.py:3: call_3()",
        "    called at model.py:2: call_2()",
        "    called at model.py:1: run()",
        "    do that",
    ]


def test_without_place_text_or_hint():
    assert str(SourceError(None, "no", "do that\nor that")) == "no\n    do that\n    or that"
    assert str(SourceError(Place("m.py", 3), "no")) == "m.py:3: no"
    assert SourceError(None, "no").line is None


@pytest.mark.parametrize(
    ("text", "column", "caret"),
    [
        ("\t\ty = g(x)", 6, 4),
        ("\ty =\tg(x)", 5, 4),
        ("  größe = σ(x)", 10, 8),
        ("  s = '日本'; g(x)", 12, 12),
        ("  x = é + g(x)".replace("é", "e\u0301"), 11, 8),
        ("y", 40, 1),
    ],
)
def test_caret_is_under_the_column(text, column, caret):
    marked = Place("m.py", 1, column, text).marked("").splitlines()
    assert marked[0].replace("\u0301", "")[0] not in " \t"
    assert marked[1] == " " * caret + "^"


def test_path_is_shown_relative_below_the_working_directory(tmp_path, monkeypatch):
    place = Place(str(tmp_path / "sub" / "model.py"), 2)
    assert str(place) == f"{tmp_path}/sub/model.py:2".replace("/", os.sep)
    monkeypatch.chdir(tmp_path)
    assert str(place) == os.path.join("sub", "model.py") + ":2"
    monkeypatch.chdir(tmp_path / "..")
    assert str(Place(str(tmp_path) + "x.py", 2)) == tmp_path.name + "x.py:2"


@pytest.mark.parametrize("cls", CLASSES)
def test_pickles_and_copies_whole(cls):
    error = cls(Place("m.py", 1, 2, "  y"), "message", "hint")
    errors.add_primal_note(error, Place("p.py", 7, 0, "h = x"))
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is cls
        assert str(twin) == str(error)
        assert twin.place == error.place
        assert twin.__notes__ == error.__notes__


def test_who_is_what():
    assert all(issubclass(cls, SrcadError) for cls in CLASSES)
    assert len(CLASSES) == 9
    assert issubclass(NotDifferentiable, TypeError)
    assert issubclass(UnsupportedValue, TypeError)


def test_primal_note_is_added_once_for_each_line():
    error = ZeroDivisionError("division by zero")
    place = Place("model.py", 9, 4, "    h = a / b\n")
    errors.add_primal_note(error, place)
    errors.add_primal_note(error, Place("model.py", 9, 8, "    h = a / b\n"))
    assert error.__notes__ == ["in the derivative of model.py:9: h = a / b"]
    errors.add_primal_note(error, Place("model.py", 20, 4, "    g(x)"))
    assert len(error.__notes__) == 2
