"""What several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trec_eval_command import QRELS, RUN, Command, Printed

from irbatch.cli import main

pytest.register_assert_rewrite("refusal", "relations")

REPOSITORY = Path(__file__).parent.parent
# Real runs and judgments with reference outputs; too large, and not free enough, to ship.
REFERENCE_DATA = Path(os.environ.get("IRBATCH_DATA", REPOSITORY.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of real evaluation data; tests that need it skip where it is absent."""
    if not REFERENCE_DATA.is_dir():
        pytest.skip(f"no reference data at {REFERENCE_DATA} (set IRBATCH_DATA)")
    return REFERENCE_DATA


@pytest.fixture
def digits() -> Path:
    """The example data set that ships with the project."""
    return REPOSITORY / "examples" / "data"


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
