"""``progress=True`` shows a bar of rich."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import irbatch
from irbatch import InputError
from irbatch.runtime.progress import progress_on_bar

QRELS = {f"q{i}": {"d": 1} for i in range(3)}
RUN = irbatch.Run({query: {"d": 1.0} for query in QRELS}, "[b]")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Make standard error a terminal; called by tests, as pytest sets it anew for each phase."""
    pytest.importorskip("rich")
    for name, value in (("TERM", "xterm-256color"), ("COLUMNS", "200")):
        monkeypatch.setenv(name, value)
    for name in ("SHOWN_AFTER", "REDRAWN_AFTER"):
        monkeypatch.setattr(f"irbatch.runtime.progress.{name}", 0.0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_of_queries_files_and_partitions(digits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)
    irbatch.evaluate(QRELS, RUN, "RR", progress=False)
    assert not shown.getvalue()
    irbatch.evaluate(QRELS, RUN, "RR", progress=True)
    irbatch.evaluate(QRELS, [RUN], "RR", progress=True)
    irbatch.read_run(digits / "pca10.run", progress=True)
    for text in ("[b]", "partitions", "reading", "pca10.run", "100%"):
        assert text in shown.getvalue()


def test_it_goes_when_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch)

    def fail() -> None:
        with progress_on_bar("pass 1", True) as show:
            assert show is not None
            show(1, 4)
            raise OSError("no index")

    with pytest.raises(OSError, match="no index"):
        fail()
    assert "25%" in shown.getvalue()
    assert shown.getvalue().endswith("\x1b[2K"), "the line is erased"


def test_what_is_not_a_function_is_rejected() -> None:
    for progress in ("yes", 2, [print]):
        with pytest.raises(InputError, match=r"progress=.* must be one of True, False"):
            irbatch.evaluate(QRELS, RUN, "RR", progress=progress)  # type: ignore[arg-type]
