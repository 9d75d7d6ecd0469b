"""``progress=True`` shows a bar, in a notebook without any library but the notebook's own."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import irbatch
from irbatch import InputError

QRELS = {f"q{i}": {"d": 1} for i in range(3)}
RUN = irbatch.Run({query: {"d": 1.0} for query in QRELS}, "<b>")


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What stood below a notebook's cell, one after the other."""
    shown: list[str] = []

    def display(text: str, *, display_id: bool) -> Any:
        assert display_id
        shown.append(text)
        return SimpleNamespace(update=shown.append)

    ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=None)  # type: ignore[attr-defined]
    displays.display, displays.HTML = display, str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    monkeypatch.setattr("irbatch.runtime.progress.REDRAWN_AFTER", 0.0)
    return shown


def test_a_notebook_shows_a_bar_and_takes_it_away(cell: list[str]) -> None:
    irbatch.evaluate(QRELS, RUN, "RR", progress=True)
    assert cell[-2:] == ['<progress value="3" max="3"></progress> 100% &lt;b&gt; ', ""]
    irbatch.evaluate(QRELS, RUN, "RR", progress=False)
    assert len(cell) == 2


def test_of_systems_files_and_partitions(
    cell: list[str], digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irbatch.formats.reader.LARGE", 1 << 10)
    run = digits / "pca10.run"
    irbatch.read_run(run, progress=True)
    assert "100% reading" in cell[-2]
    irbatch.compare(digits / "qrels.txt", [run, digits / "pixels-cosine.run"], "RR", progress=True)
    assert [each.endswith("pixels-cosine.run ") for each in cell[-2:]] == [True, False]
    irbatch.evaluate(QRELS, [RUN], "RR", progress=True)
    assert cell[-2:] == ['<progress value="1" max="1"></progress> 100% partitions ', ""]
    assert cell.count("") == 4


def test_it_goes_when_work_fails(cell: list[str]) -> None:
    from irbatch.runtime.progress import steps_on_bar

    def fail() -> None:
        with steps_on_bar() as step:
            step("pass 1", 1, 4)
            raise OSError("no index")

    with pytest.raises(OSError, match="no index"):
        fail()
    assert cell == ['<progress value="1" max="4"></progress> 25% pass 1 1 of 4 calls', ""]


def test_outside_of_notebooks_it_takes_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match=r"irbatch\[cli\]"):
        irbatch.evaluate(QRELS, RUN, "RR", progress=True)


def test_refuses_what_is_no_function() -> None:
    for progress in ("yes", 2, [print]):
        with pytest.raises(InputError, match=r"progress=.* must be one of True, False"):
            irbatch.evaluate(QRELS, RUN, "RR", progress=progress)  # type: ignore[arg-type]
