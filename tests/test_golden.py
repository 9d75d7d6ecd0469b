"""Both living versions of trec_eval on real runs, from their stored outputs.

Version 9 compares scores as float32, version 10 as float64; each is met at its own precision.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import REFERENCE_DATA

import irbatch
from irbatch.measures import Measure

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
NAMES = [
    "map", "Rprec", "recip_rank", "ndcg", "num_q", "num_ret", "num_rel", "num_rel_ret",
    "set_P", "set_recall", "set_relative_P", "set_F", "success.1,5,10",
    *(f"{name}.{CUTOFFS}" for name in ("P", "recall", "map_cut", "ndcg_cut", "relative_P")),
]  # fmt: skip
SETS = [
    "beir_trec_covid", "cast2021_a", "dl19_passage", "movielens_a", "msmarco_ans_small",
    "robust03_uic0301", "touche2020_a", "trec_covid_r1", "trec_covid_r5", "web2012_ql",
]  # fmt: skip
QRELS = {"web2012_ql": "qrels.adhoc.2012.txt.gz", "robust03_uic0301": "robust03_cs_qrels.txt.gz"}
FILE = re.compile(
    r"(?P<run>.+?)\.(l(?P<level>\d)\.)?(?P<version>v10|v9\.0\.8)_q(?P<complete>c?)"
    r"(?P<digits>\.15digits)?\.txt\.gz"
)
Expected = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    """One stored output and the call that must reproduce it."""

    path: Path
    run: str
    level: int
    version: str
    complete: bool
    tolerance: float

    @classmethod
    def of(cls, path: Path) -> Case | None:
        match = FILE.fullmatch(path.name)
        if match is None:
            return None
        return cls(path, match["run"], int(match["level"] or 1), match["version"],
                   bool(match["complete"]), 1e-9 if match["digits"] else 5.1e-5)  # fmt: skip


def read_expected(path: Path) -> Expected:
    """Read ``name  query  value`` lines: query to name to value."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    values: Expected = defaultdict(dict)
    for line in text.splitlines():
        name, query, value = line.split("\t")
        if not name.startswith(("runid", "relstring")):
            values[query][name.strip()] = float(value)
    return values


@functools.lru_cache(maxsize=1)
def read_run(path: Path) -> irbatch.Run:
    return irbatch.read_run(path)


def at_level(measure: Measure, level: int) -> Measure:
    has_level = "rel" in measure.declaration.parameters and measure.name != "nDCG"
    return measure(rel=level) if has_level else measure


def check(case: Case, qrels: irbatch.Qrels, run: irbatch.Run) -> int:
    """Compare all values of a stored output; return how many there were."""
    expected = read_expected(case.path)
    wanted = irbatch.parse_measures(NAMES)
    results = irbatch.evaluate(
        qrels,
        run,
        [at_level(each, case.level) for each in wanted],
        missing="zero" if case.complete else "skip",
        score_dtype="float64" if case.version == "v10" else "float32",
    )
    names = [each.spelled("trec_eval") for each in wanted]
    rows = dict(zip(results.query_ids, results.values.tolist(), strict=True))
    rows["all"] = list(results.mean().values())
    compared = 0
    for query, values in expected.items():
        for name, value in zip(names, rows[query], strict=True):
            if name not in values or (query == "all" and averaged_otherwise(case, name)):
                continue
            assert value == pytest.approx(values[name], rel=0, abs=case.tolerance), (query, name)
            compared += 1
    return compared


def averaged_otherwise(case: Case, name: str) -> bool:
    """With -c, trec_eval sums relevant documents at level 1 whatever -l says."""
    return case.complete and name == "num_rel" and case.level > 1


@pytest.mark.parametrize("name", SETS)
def test_real_runs(reference_data: Path, name: str) -> None:
    folder = reference_data / name
    file = QRELS.get(name)
    qrels = irbatch.read_qrels(folder / file if file else next(folder.glob("*qrel*")))
    cases = [Case.of(path) for path in sorted((folder / "expected").iterdir())]
    cases = [case for case in cases if case is not None]
    compared = 0
    for case in cases:
        names = (f"{case.run}.run.gz", f"{case.run}.trec.run.gz")
        paths = [folder / "runs" / name for name in names]
        compared += check(case, qrels, read_run(next(path for path in paths if path.exists())))
    assert cases
    assert compared > 100 * len(cases)


@pytest.mark.parametrize("version", ["v10", "v9.0.8"])
def test_trec_evals_own_files(reference_data: Path, version: str) -> None:
    folder = reference_data / "trec_eval_test"
    qrels = irbatch.read_qrels(folder / "v10" / "qrels.test.gz")
    run = irbatch.read_run(folder / "v10" / "results.test.gz")
    trunc = irbatch.read_run(folder / "v10" / "results.trunc")
    graded = irbatch.read_qrels(folder / "v10" / "qrels.rel_level.gz")
    for name, tolerance in (("out.test.aq", 5.1e-5), ("out.test.aq.15digits", 1e-9)):
        case = Case(folder / version / name, "", 1, version, False, tolerance)
        assert check(case, qrels, run) > 150
    for name, tolerance in (("out.test.aqc", 5.1e-5), ("out.test.aqc.15digits", 1e-9)):
        case = Case(folder / version / name, "", 1, version, True, tolerance)
        assert check(case, qrels, trunc) > 100
    for name, tolerance in (("out.test.aql", 5.1e-5), ("out.test.aql.15digits", 1e-9)):
        case = Case(folder / version / name, "", 2, version, False, tolerance)
        assert check(case, graded, run) > 150


def test_trec_evals_own_files_with_comments(reference_data: Path) -> None:
    """Version 10 only; the run has 301 queries, 31 of them judged."""
    folder = reference_data / "trec_eval_test" / "v10"
    qrels = irbatch.read_qrels(folder / "qrels.comment.test.gz")
    run = irbatch.read_run(folder / "results.comment.test.gz")
    case = Case(folder / "out.comment.test", "", 1, "v10", False, 5.1e-5)
    assert check(case, qrels, run) > 10
    plain, commented = (
        irbatch.read_qrels(folder / name)
        for name in ("qrels.test.gz", "qrels.test.with-comments.gz")
    )
    run = irbatch.read_run(folder / "results.test.gz")
    assert irbatch.evaluate(plain, run, NAMES).mean() == (
        irbatch.evaluate(commented, run, NAMES).mean()
    )


def test_reference_data_is_where_it_is_looked_for() -> None:
    if not REFERENCE_DATA.is_dir():
        pytest.skip(f"no reference data at {REFERENCE_DATA}: agreement on real runs is not tested")
    assert {path.name for path in REFERENCE_DATA.iterdir()} >= set(SETS)
