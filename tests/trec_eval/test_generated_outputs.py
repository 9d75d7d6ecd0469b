"""What both living versions of trec_eval print for generated files, byte for byte.

`tests/golden/trec_eval.zip` has judgments and runs with ties, negative grades and missing topics,
the script that made them, and the outputs: `NAME.RUN.VERSION.FORM.txt`.
"""

from __future__ import annotations

import re
from zipfile import ZipFile

import pytest
from support.paths import REPOSITORY
from support.trec_eval_command import Command

pytestmark = pytest.mark.portable

GOLDEN = ZipFile(REPOSITORY / "tests" / "golden" / "trec_eval.zip")
OUTPUT = re.compile(r"(?P<name>\w+)\.(?P<run>\w+)\.v(?P<version>\d+)\.(?P<form>\w+)\.txt")
WORDS = {
    "official": [],
    "all": ["-q", "-m", "all_trec"],
    "c": ["-q", "-c", "-m", "all_trec"],
    "l2": ["-q", "-l", "2", "-m", "all_trec"],
}
OUTPUTS = [file for file in GOLDEN.namelist() if OUTPUT.fullmatch(file)]


def test_all_are_there() -> None:
    assert len(OUTPUTS) == 56


@pytest.mark.parametrize("file", OUTPUTS)
def test_output(trec_eval: Command, file: str) -> None:
    match = OUTPUT.fullmatch(file)
    assert match is not None
    name, run, version, form = match.groups()
    printed = trec_eval(
        *WORDS[form],
        qrels=GOLDEN.read(f"{name}.qrels"),
        run=GOLDEN.read(f"{name}.{run}.run"),
        version=version,
    )
    assert printed.out.encode() == GOLDEN.read(file)
    # Version 10 ends with 4, and prints no means, where a judged topic lacks a ranking.
    stopped = version == "10" and name == "missing" and form != "c"
    assert printed.status == (4 if stopped else 0)
