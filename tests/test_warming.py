"""`warmup` compiles every kernel, so that nothing waits for a compiler later."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterable
from itertools import chain

import pytest

import irbatch
from irbatch import warming
from irbatch.data.ids import TextColumn
from irbatch.runtime.kernels import Kernel


def import_all() -> None:
    """Import the modules of the package that need no framework; others have no kernels."""
    for found in pkgutil.walk_packages(irbatch.__path__, "irbatch."):
        if not found.name.startswith(("irbatch.integrations", "irbatch.__main__")):
            importlib.import_module(found.name)


def run_from_outside(kernels: Iterable[Kernel]) -> set[str]:
    """Name those that no other kernel calls."""
    ours = [each for each in kernels if each.source.__module__.startswith("irbatch.")]
    called = set(chain.from_iterable(each._called(Kernel).values() for each in ours))
    return {each.__name__ for each in ours if each not in called}


def test_every_kernel_is_compiled() -> None:
    import_all()
    expected = run_from_outside(Kernel._entries)
    assert {"scan_rows", "_look_up"} <= expected
    assert expected - set(irbatch.warmup()) == set()


def test_what_is_compiled_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with warming._progress(True) as tell:
        assert tell is not None
        assert capsys.readouterr().err == "", "nothing is compiled yet"
        tell("scan_rows")
        tell("others")
    assert capsys.readouterr().err == "compiling, once a machine: half a minute\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with warming._progress(True) as tell:
        assert tell is not None
        tell("scan_rows")
    said = capsys.readouterr().err
    assert said == f"{warming.CLEARED}compiling, once a machine: 1 (scan_rows){warming.CLEARED}"
    with warming._progress(False) as tell:
        assert tell is None


def test_columns_of_text_then_need_no_compiler() -> None:
    irbatch.warmup()
    queries, documents = TextColumn.encode(["q1", "q1", "q2"]), TextColumn.encode(["a", "b", "b"])
    kinds = {each: set(each._code) for each in Kernel._entries}
    qrels = irbatch.Qrels.from_columns(["q1", "q2"], ["a", "b"], [1, 2])
    with Kernel.always_compiled():
        irbatch.evaluate(qrels, irbatch.Run.from_columns(queries, documents, [1.0, 2.0, 3.0]), "AP")
    assert {each: set(each._code) for each in Kernel._entries} == kinds
