"""One evaluation, whatever it comes in: the same bits."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.file_readers import use_reader
from support.input_errors import input_error

import irbatch
from irbatch import Qrels, Run
from irbatch.data.columns import QueryTable

pytestmark = pytest.mark.portable

MEASURES = "nDCG@10 nDCG AP RR P@5 R@20 Bpref InfAP Judged@10 NumRet RBP SetF IPrec(recall=0.4)"
Dict = dict[Any, dict[Any, float]]
Sides = tuple[Any, Any]


def problem() -> tuple[Dict, Dict]:
    """Judgments and rankings by whole numbers; no ties, as lists of ids have none."""
    rng = random.Random(8)
    run = {}
    for query in range(40):
        documents = rng.sample(range(1000), 60)
        scores = sorted(rng.sample(range(-500, 500), 60), reverse=True)
        run[query] = {d: s / 8 for d, s in zip(documents, scores, strict=True)}
    qrels = {q: {d: rng.randint(0, 3) for d in rng.sample(sorted(run[q]), 15)} for q in run}
    return qrels, run


def texts(mapping: Dict) -> Dict:
    return {str(q): {str(d): v for d, v in each.items()} for q, each in mapping.items()}


def written(folder: Path, qrels: Dict, run: Dict, pack: Callable[[bytes], bytes]) -> Sides:
    Qrels(qrels).to_trec(folder / "qrels")
    Run(run).to_trec(folder / "run")
    (folder / "packed").write_bytes(pack((folder / "run").read_bytes()))
    return folder / "qrels", folder / "packed"


SIDES: dict[str, Callable[[Dict, Dict, Path], Sides]] = {
    "text": lambda qrels, run, folder: (texts(qrels), texts(run)),
    "prepared": lambda qrels, run, folder: (Qrels(texts(qrels)), Run(texts(run)).prepared()),
    "numbers prepared": lambda qrels, run, folder: (qrels, Run(run).prepared()),
    "file": lambda qrels, run, folder: written(folder, qrels, run, bytes),
    "gzip": lambda qrels, run, folder: written(folder, qrels, run, gzip.compress),
}


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("kind", SIDES)
def test_the_same_bits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, large: bool
) -> None:
    use_reader("parser" if large else "lines", monkeypatch)
    monkeypatch.setenv("IRBATCH_JIT", "1" if large else "0")
    qrels, run = problem()
    expected = irbatch.evaluate(qrels, run, MEASURES).values
    found = irbatch.evaluate(*SIDES[kind](qrels, run, tmp_path), MEASURES).values
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_id_matrices_too(monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    monkeypatch.setenv("IRBATCH_JIT", "1" if large else "0")
    qrels, run = problem()
    expected = irbatch.evaluate(qrels, run, MEASURES).values
    matrix = np.array([list(each) for each in run.values()])
    for ranked in (matrix, matrix.astype(np.int32), np.asfortranarray(matrix), matrix.tolist(),
                   [list(map(str, each)) for each in matrix.tolist()]):  # fmt: skip
        judged: Any = list(qrels.values())
        if isinstance(ranked, list) and isinstance(ranked[0][0], str):
            judged = list(texts(qrels).values())
        found = irbatch.evaluate_ids(ranked, judged, MEASURES).values
        assert found.tobytes() == expected.tobytes()


def test_arrays_of_pandas() -> None:
    scores, labels = [[0.1, 0.9, 0.4], [0.3, 0.2, 0.8]], [[1, 0, 1], [1, 0, 0]]
    expected = irbatch.evaluate_scores(scores, labels, "RR AP").values
    frames = pd.DataFrame(scores, index=[7, 5]), pd.DataFrame(labels)
    assert irbatch.evaluate_scores(*frames, "RR AP").values.tobytes() == expected.tobytes()
    rows = [pd.Series([0, 1]), pd.Series([1])]
    assert irbatch.evaluate_matrix(rows, "RR").mean() == {"RR": 0.75}
    firsts = pd.Series([2, 0])
    found = irbatch.evaluate_scores(frames[0], measures="RR", positives=firsts)
    assert found.mean() == irbatch.evaluate_scores(scores, measures="RR", positives=[2, 0]).mean()


def test_prepared_runs_read_like_others() -> None:
    run = Run({"q": {"d": 1, "é": 2.5}, "p": {}}, "mine", "tag")
    prepared = run.prepared()
    assert isinstance(prepared.rankings, QueryTable)
    assert dict(prepared.rankings) == run.rankings
    assert list(prepared.rankings["q"]) == ["é", "d"]  # by score; ties as they stood
    tied = Run.from_columns(["q"] * 3 + ["p"], ["a", "c", "b", "a"], [0.0, 1.0, 1.0, 2.0])
    assert list(tied.prepared().rankings["q"]) == ["c", "b", "a"]
    assert (prepared.name, prepared.tag) == ("mine", "tag")
    assert prepared.prepared() is prepared
    huge = Run({"q": {2**70: 1.0}})
    assert irbatch.evaluate({"q": {2**70: 1}}, huge, "RR")["RR"] == 1.0
    with pytest.raises(irbatch.InputError, match="does not fit int64"):
        huge.prepared()


@pytest.mark.parametrize(
    ("rankings", "fact"),
    [({"q": {"d": "x"}}, "'x' is not a number"), ({"q": {"d": float("nan")}}, "nan"),
     ({"q": {"d": 1.0, 7: 2.0}}, "two kinds"), ({"q": {None: 1.0}}, "None")],
)  # fmt: skip
def test_runs_that_cannot_be_prepared(rankings: Any, fact: str) -> None:
    input_error(Run(rankings, "mine").prepared, fact, source="run", query="q")
