"""What several test modules share."""

from __future__ import annotations

import gc
import random
import re
import signal
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from support.paths import MORE_REFERENCE_DATA, REFERENCE_DATA, REPOSITORY

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job of a shell's script
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no failure.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")

pytest.register_assert_rewrite(
    "support.file_readers", "support.input_errors", "support.relations"
)  # before they are imported

from support.file_readers import PIECE, READERS, use_reader  # noqa: E402
from support.trec_eval_command import QRELS, RUN, Command, Printed  # noqa: E402

from irbatch.cli import main  # noqa: E402
from irbatch.measures import CATALOGUE, DISCOUNTS, GAINS  # noqa: E402
from irbatch.runtime.build_kernels import declared_kinds  # noqa: E402
from irbatch.runtime.kernels import Arguments, Kernel  # noqa: E402


def pytest_collection_finish() -> None:
    """Let garbage collections pass over what was made by now: thousands of tests, all modules."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let what ends with the process be collected again."""
    gc.unfreeze()


def summarise_skips(skipped: Iterable[Any]) -> Iterator[str]:
    """Count the tests that were skipped, a line for each missing package or other reason."""
    counts: Counter[str] = Counter()
    for report in skipped:
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        package = re.match(r"could not import '([\w.]+)'|pip install (?:--no-deps )?(\w+)$", reason)
        counts[package[1] or package[2] if package else reason] += 1
    for reason, count in counts.most_common():
        yield f"skipped, {reason}: {count} test{'s' if count > 1 else ''}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were skipped, in a line for each reason."""
    for line in summarise_skips(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line)


@pytest.fixture(scope="session", autouse=True)
def _declared_kinds() -> Iterator[None]:
    """Fail where a kernel is called for a kind of arguments that the library doesn't have."""
    choose, declared = Kernel._choose, dict[Kernel, list[Any]]()

    def checked(self: Kernel, cells: int, arguments: Any) -> Any:
        if self not in declared:
            declared[self] = declared_kinds(self.source)
        kinds = Arguments(arguments).kinds
        if kinds not in declared[self]:
            pytest.fail(f"{self.__name__} is not declared for {kinds}")
        return choose(self, cells, arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "_choose", checked)
        yield


@pytest.fixture(scope="module", autouse=True)
def _frozen() -> None:
    """Let collections of garbage pass over what the modules before this one made."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Forget the measures, gains and discounts that a test defines."""
    tables: list[MutableMapping[str, Any]] = [CATALOGUE, GAINS, DISCOUNTS]
    before = [dict(table) for table in tables]
    yield
    for table, kept in zip(tables, before, strict=True):
        if table != kept:
            table.clear()
            table.update(kept)


@pytest.fixture(autouse=True)
def _own_draws(request: pytest.FixtureRequest) -> None:
    """Let a test draw the same random numbers whatever ran before it, and in whatever process."""
    seed = zlib.crc32(request.node.nodeid.encode())
    for each in list(vars(request.module).values()):
        if isinstance(each, np.random.Generator):
            each.bit_generator.state = np.random.default_rng(seed).bit_generator.state
        elif isinstance(each, random.Random):
            each.seed(seed)


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of real evaluation data; tests that need it skip where it is absent."""
    if not REFERENCE_DATA.is_dir():
        pytest.skip(f"no reference data at {REFERENCE_DATA} (set IRBATCH_DATA)")
    return REFERENCE_DATA


@pytest.fixture(scope="session")
def more_reference_data(reference_data: Path) -> Path:
    """The folder of outputs of other tools than trec_eval; as `reference_data`."""
    if not MORE_REFERENCE_DATA.is_dir():
        pytest.skip(f"no reference data at {MORE_REFERENCE_DATA} (beside IRBATCH_DATA)")
    return MORE_REFERENCE_DATA


@pytest.fixture
def digits() -> Path:
    """The example data set that ships with the project."""
    return REPOSITORY / "examples" / "data"


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every reader of files; a module may say how many bytes its pieces have."""
    use_reader(request.param, monkeypatch, getattr(request.module, "PIECE", PIECE))
    return str(request.param)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], str]:
    """Write a file and return its path."""

    def written(data: bytes) -> str:
        (tmp_path / "file").write_bytes(data)
        return str(tmp_path / "file")

    return written


@pytest.fixture
def write_lines(write: Callable[[bytes], str]) -> Callable[..., str]:
    """Write lines, each with its end."""

    def written(*lines: str | bytes, end: bytes = b"\n") -> str:
        encoded = [each.encode() if isinstance(each, str) else each for each in lines]
        return write(b"".join(each + end for each in encoded))

    return written


@pytest.fixture
def trec_eval(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Run `irbatch trec_eval` on two files, each given by what is in it or by where it is."""

    def run(
        *words: str,
        qrels: str | bytes | Path = QRELS,
        run: str | bytes | Path = RUN,
        version: str | None = None,
    ) -> Printed:
        files = []
        for name, given in (("qrels", qrels), ("run", run)):
            path = given if isinstance(given, Path) else tmp_path / name
            if not isinstance(given, Path):
                path.write_bytes(given.encode() if isinstance(given, str) else given)
            files.append(str(path))
        options = [] if version is None else ["--as", version]
        try:
            status = main(["trec_eval", *options, *words, *files])
        except SystemExit as leaving:  # argparse
            status = int(leaving.code or 0)
        return Printed(status, *capsys.readouterr())

    return run
