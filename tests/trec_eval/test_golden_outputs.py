"""Both living versions of trec_eval on real runs, from their stored outputs.

Outputs of four digits are met byte for byte, those of fifteen digits to 1e-12.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

import irbatch
from irbatch.cli import main
from irbatch.trec_eval import TrecEval, print_lines

pytestmark = pytest.mark.portable

VERSIONS = {"v9.0.8": "9", "v10": "10"}
SETS = [
    "beir_trec_covid", "cast2021_a", "dl19_passage", "movielens_a", "msmarco_ans_small",
    "robust03_uic0301", "touche2020_a", "trec_covid_r1", "trec_covid_r5", "web2012_ql",
]  # fmt: skip
QRELS = {"web2012_ql": "qrels.adhoc.2012.txt.gz", "robust03_uic0301": "robust03_cs_qrels.txt.gz"}
FILE = re.compile(
    r"(?P<run>.+?)\.(l(?P<level>\d)\.)?(?P<version>v10|v9\.0\.8)_q(?P<complete>c?)"
    r"(?P<digits>\.15digits)?\.txt\.gz"
)
# What trec_eval prints of all topics only.
OF_ALL = {"num_q", "gm_map", "gm_bpref"}
TOLERANCE = 1e-12

# trec_eval's own tests: its words, then the file with what it prints.
OWN_TESTS = """\
qrels.test results.test -> out.test
-m all_trec qrels.test results.test -> out.test.a
-m all_trec -q qrels.test results.test -> out.test.aq
-m all_trec -q -c qrels.test results.trunc -> out.test.aqc
-m all_trec -q -c -M100 qrels.test results.trunc -> out.test.aqcM
-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test -> out.test.aql
-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 \
-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 \
-msuccess.2,5,20 qrels.test results.test -> out.test.meas_params
-q -m all_trec -Z zscores_file qrels.test results.test -> out.test.aqZ
""".splitlines()
OWN_TESTS_OF_COMMENTS = """\
qrels.test.with-comments results.test -> out.test
qrels.comment.test results.comment.test -> out.comment.test
""".splitlines()

Values = dict[str, float]


@dataclass(frozen=True)
class Case:
    """One stored output and the evaluation that must reproduce it."""

    path: Path
    run: str = ""
    level: int = 1
    version: str = "10"
    complete: bool = False
    many_digits: bool = False

    @classmethod
    def of(cls, path: Path) -> Case | None:
        match = FILE.fullmatch(path.name)
        if match is None:
            return None
        return cls(path, match["run"], int(match["level"] or 1), VERSIONS[match["version"]],
                   bool(match["complete"]), bool(match["digits"]))  # fmt: skip

    def text(self) -> str:
        raw = self.path.read_bytes()
        return (gzip.decompress(raw) if self.path.suffix == ".gz" else raw).decode()


@functools.lru_cache(maxsize=1)
def read_run(path: Path) -> irbatch.Run:
    return irbatch.read_run(path)


def list_cases(folder: Path) -> list[Case]:
    cases = [Case.of(path) for path in sorted((folder / "expected").iterdir())]
    return [case for case in cases if case is not None]


def read_values(case: Case) -> dict[str, Values]:
    """Read ``name  topic  value`` lines: topic to name to value."""
    values: dict[str, Values] = defaultdict(dict)
    for line in case.text().splitlines():
        name, topic, value = line.split("\t")
        if not name.startswith(("runid", "relstring")):
            values[topic][name.strip()] = float(value)
    return values


def check(case: Case, qrels: irbatch.Qrels, run: irbatch.Run) -> int:
    """Compare an evaluation with a stored output; return how many values there were."""
    return (check_values if case.many_digits else check_lines)(case, qrels, run)


def check_lines(case: Case, qrels: irbatch.Qrels, run: irbatch.Run) -> int:
    """Print the evaluation."""
    options = TrecEval(("all_trec",), case.version, complete=case.complete, level=case.level)
    lines = print_lines(options, qrels, run, per_query=True)
    check_text("".join(f"{line}\n" for line in lines), case)
    return case.text().count("\n")


def check_text(printed: str, case: Case) -> None:
    """Compare two texts of many lines; the first difference is what one wants to see."""
    expected = case.text()
    if printed != expected:
        lines = zip(printed.splitlines(), expected.splitlines(), strict=False)
        for number, (line, wanted) in enumerate(lines, 1):
            assert line == wanted, f"{case.path} line {number}"
        pytest.fail(f"{case.path}: {len(printed)} characters, expected {len(expected)}")


def check_values(case: Case, qrels: irbatch.Qrels, run: irbatch.Run) -> int:
    """Evaluate the same measures with the same conventions through the public verb."""
    columns = {
        each.label: each.measure
        for each in TrecEval(("all_trec",), case.version).values()
        if each.measure is not None
    }
    results = irbatch.evaluate(
        qrels,
        run,
        columns.values(),
        trec_eval=case.version,
        missing="zero" if case.complete else None,
        rel=case.level,
    )
    rows = dict(zip(results.query_ids, results.values.tolist(), strict=True))
    expected = read_values(case)
    compared = check_row(results.mean("trec_eval"), expected.pop("all"), f"{case.path} all")
    # Version 9 has no lines for topics that are missing from the run.
    printed = [topic for topic in rows if case.version == "10" or topic in run.rankings]
    assert sorted(expected) == sorted(printed)
    for topic, values in expected.items():
        found = dict(zip(columns, rows[topic], strict=True))
        shown = {name: value for name, value in found.items() if name not in OF_ALL}
        compared += check_row(shown, values, f"{case.path} {topic}")
    return compared


def check_row(found: Values, expected: Values, where: str) -> int:
    assert list(found) == list(expected), where
    wrong = {
        name: (found[name], value)
        for name, value in expected.items()
        if not abs(found[name] - value) <= TOLERANCE
    }
    assert not wrong, where
    return len(expected)


# In one of them ranks contradict scores, and trec_eval goes by the scores.
@pytest.mark.filterwarnings("ignore::irbatch.InputWarning")
@pytest.mark.parametrize("name", SETS)
def test_real_runs(reference_data: Path, name: str) -> None:
    folder = reference_data / name
    file = QRELS.get(name)
    qrels = irbatch.read_qrels(folder / file if file else next(folder.glob("*qrel*")))
    cases = list_cases(folder)
    compared = 0
    for case in cases:
        names = (f"{case.run}.run.gz", f"{case.run}.trec.run.gz")
        paths = [folder / "runs" / name for name in names]
        compared += check(case, qrels, read_run(next(path for path in paths if path.exists())))
    assert cases
    assert compared > 500 * len(cases)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("qrels", "run", "complete", "level", "output"),
    [
        ("qrels.test.gz", "results.test.gz", False, 1, "out.test.aq.15digits"),
        ("qrels.test.gz", "results.trunc", True, 1, "out.test.aqc.15digits"),
        ("qrels.rel_level.gz", "results.test.gz", False, 2, "out.test.aql.15digits"),
    ],
)
def test_every_digit_of_trec_evals_own_outputs(
    reference_data: Path, version: str, qrels: str, run: str, complete: bool, level: int,
    output: str,
) -> None:  # fmt: skip
    folder = reference_data / "trec_eval_test"
    case = Case(folder / version / output, "", level, VERSIONS[version], complete, True)
    judged, ranked = irbatch.read_qrels(folder / "v10" / qrels), read_run(folder / "v10" / run)
    assert check(case, judged, ranked) > 150


@pytest.mark.parametrize(
    ("version", "command"),
    [
        *((version, command) for version in VERSIONS for command in OWN_TESTS),
        *(("v10", command) for command in OWN_TESTS_OF_COMMENTS),
    ],
)
def test_trec_evals_own_tests(
    reference_data: Path, capsys: pytest.CaptureFixture[str], version: str, command: str
) -> None:
    folder = reference_data / "trec_eval_test"
    words, output = command.split(" -> ")
    own = list(find_files(words.split(), folder / version, folder / "v10"))
    assert main(["trec_eval", "--as", VERSIONS[version], *own]) == 0
    printed = capsys.readouterr()
    check_text(printed.out, Case(folder / version / output))
    assert not printed.err


def find_files(words: list[str], *folders: Path) -> Iterable[str]:
    """Put paths, perhaps of compressed files, in the place of files' names."""
    for word in words:
        paths = [folder / f"{word}{ending}" for folder in folders for ending in ("", ".gz")]
        yield next((str(path) for path in paths if path.is_file()), word)
