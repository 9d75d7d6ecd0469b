"""However Python is started, whatever is lacking or comes between: the same values, or an error."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.every_way import LABELS, QRELS, RUN, SCORES, ways
from support.file_readers import use_reader
from support.paths import REPOSITORY

import irbatch
from irbatch import BatchEvaluator
from irbatch.comparing.plots import plot_forest
from irbatch.efficiency import EfficiencyRecord, measure_search

FOLDERS = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")])


# ---------------------------------------------------------------- how Python is started


def printed(*words: str, **variables: str) -> str:
    """Return what all evaluations give in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": FOLDERS, **variables}
    command = [sys.executable, *words, str(REPOSITORY / "tests" / "support" / "every_way.py")]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def comma_locale() -> str:
    """Name a locale that writes decimal commas, if this system has one."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    return next((each for each in listed.split() if each.startswith(("de_", "fr_"))), "C")


def test_the_same_values_however_python_is_started() -> None:
    expected = printed(PYTHONHASHSEED="0", IRBATCH_THREADS="2")
    assert len(expected.splitlines()) == 6
    odd = {"LC_ALL": "C", "PYTHONUTF8": "0", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "1"}
    assert printed("-O", **odd) == expected
    comma = {"LC_ALL": comma_locale(), "TZ": "nonsense", "PYTHONHASHSEED": "12345"}
    assert printed("-X", "dev", "-W", "error", **comma) == expected


# ---------------------------------------------------------------- what isn't installed

RESULTS = irbatch.evaluate(QRELS, RUN, "RR AP")
COMPARISON = irbatch.compare(QRELS, {"a": RUN, "b": dict(list(RUN.items())[3:])}, "RR", draws=20)
RUNS = {"a": RUN, "b": dict(list(RUN.items())[3:])}
ABSENT: dict[str, tuple[tuple[str, ...], str, Callable[[Path], Any]]] = {
    "frames of values": (("pandas",), "pandas", lambda _: RESULTS.to_pandas()),
    "frames of polars": (("polars",), "polars", lambda _: RESULTS.to_polars()),
    "a run as a frame": (("pandas",), "pandas", lambda _: irbatch.Run(RUN).to_pandas()),
    "an Arrow table": (("pyarrow",), "arrow", lambda _: irbatch.Run(RUN).to_arrow()),
    "zstd": (
        ("compression.zstd", "backports.zstd"), "io",
        lambda path: irbatch.Run(RUN).to_trec(path / "run.zst"),
    ),
    "pages with pictures": (("matplotlib",), "plot", lambda _: plot_forest(COMPARISON, "RR")),
    "ANOVA": (
        ("scipy", "scipy.stats", "scipy.special"), "stats",
        lambda _: irbatch.compare(QRELS, RUNS, "RR", test="anova"),
    ),
    "a search": (
        ("psutil",), "efficiency",
        lambda _: measure_search(list, ["q"]),
    ),
    "progress": (
        ("rich.progress",), "cli",
        lambda _: irbatch.evaluate(QRELS, RUN, "RR", progress=True),
    ),
    "YAML": (("yaml",), "yaml", lambda _: EfficiencyRecord(system="a").to_ir_metadata()),
}  # fmt: skip


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_not_installed_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules, extra, call = ABSENT[name]
    for loaded in list(sys.modules):
        if loaded.split(".")[0] in modules and loaded not in modules:
            monkeypatch.delitem(sys.modules, loaded)
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'irbatch\[{extra}\]'"):
        call(tmp_path)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- few open files

FEW_FILES = """
import json, os, resource, sys, warnings
from pathlib import Path
import irbatch
from support.every_way import QRELS, RUN

folder = Path(sys.argv[1])
paths = [folder / f"run{i}" for i in range(40)]
for path in paths:
    irbatch.Run(RUN).to_trec(path)
(folder / "bad").write_text("q1 Q0 d1\\n")
expected = irbatch.evaluate(QRELS, RUN, "AP").mean()
irbatch.evaluate_runs(QRELS, paths[:2], "AP")
resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
before = len(os.listdir("/proc/self/fd"))
found = irbatch.evaluate_runs(QRELS, paths, "AP")
for _ in range(20):
    try:
        irbatch.read_run(folder / "bad")
    except irbatch.InputError:
        pass
print(all(each.mean() == expected for each in found.values()) and len(found) == 40)
print(len(os.listdir("/proc/self/fd")) - before)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux tells what is open")
def test_few_open_files(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": FOLDERS}
    command = [sys.executable, "-W", "error", "-c", FEW_FILES, str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["True", "0"], "")


WAYS = ("file", "updates", "comparison")


@pytest.fixture
def evaluations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], str]]:
    use_reader("pieces", monkeypatch, 1 << 11)
    monkeypatch.setenv("IRBATCH_THREADS", "2")
    return ways(tmp_path)


# ---------------------------------------------------------------- interrupts


@pytest.fixture
def interrupt() -> Iterator[Callable[[float], None]]:
    """Set a clock that interrupts, as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda after: signal.setitimer(signal.ITIMER_REAL, after) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


# An interrupt between two instructions of Python's own `with` leaves a file to be closed later.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such clock")
@pytest.mark.parametrize("way", WAYS)
def test_an_interrupt_at_any_time(
    way: str, evaluations: dict[str, Callable[[], str]], interrupt: Callable[[float], None]
) -> None:
    evaluate = evaluations[way]
    expected = evaluate()
    lucky, count = random.Random(4), 5
    interrupted = 0
    for number in itertools.count():
        try:
            interrupt(10 ** lucky.uniform(-4.5, -1.5))
            assert evaluate() == expected
            interrupt(0)
        except KeyboardInterrupt:
            interrupted += 1
            assert evaluate() == expected
        if interrupted == count or number == 3 * count:
            break
    assert interrupted


# ---------------------------------------------------------------- memory


class Scarce:
    """NumPy whose n-th array cannot be made."""

    def __init__(self) -> None:
        self.left = 1 << 60

    def making(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*given: Any, **named: Any) -> Any:
            self.left -= 1
            if not self.left:
                raise MemoryError
            return make(*given, **named)

        return made


@pytest.fixture
def scarce(monkeypatch: pytest.MonkeyPatch) -> Scarce:
    """Where irbatch makes arrays, they may be lacking."""
    found = Scarce()
    names = ("empty", "zeros", "full", "arange", "concatenate", "repeat", "fromiter", "where")
    numpy = types.ModuleType("numpy")
    numpy.__dict__.update(vars(np))
    numpy.__dict__.update({name: found.making(getattr(np, name)) for name in names})
    for name, module in list(sys.modules.items()):
        if name.startswith("irbatch.") and getattr(module, "np", None) is np:
            monkeypatch.setattr(module, "np", numpy)
    return found


@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_an_update_without_memory_changes_nothing(keep: str, scarce: Scarce) -> None:
    evaluator = BatchEvaluator("RR nDCG@10", keep=keep)
    evaluator.update(SCORES[:9], LABELS[:9])
    before = evaluator.state_dict()
    for n in range(1, 200):
        scarce.left = n
        try:
            evaluator.update(SCORES[9:], LABELS[9:])
        except MemoryError:
            assert evaluator.state_dict() == before
            continue
        break
    scarce.left = 1 << 60
    whole = BatchEvaluator("RR nDCG@10", keep=keep)
    whole.update(SCORES, LABELS)
    assert evaluator.compute().mean() == whole.compute().mean()
    assert 3 < n < 199


def test_a_formula_without_memory_is_no_wrong_formula() -> None:
    @irbatch.define_measure("Huge", definition="…")
    def huge(s: Any) -> Any:
        raise MemoryError

    with pytest.raises(MemoryError):
        irbatch.evaluate(QRELS, RUN, huge)
