"""The same problem in other orders, ids, scores, containers or padding, in parts, or again."""

from __future__ import annotations

import copy
import gzip
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.measures import order
from support.relations import (
    MEASURES,
    assert_same,
    cells,
    evaluate,
    fitting,
    having,
    mapped,
    nasty,
    plain,
    scored,
    seeds,
    shuffled,
    values,
)

import irbatch

# Rankings of a random problem may all be empty.
pytestmark = pytest.mark.filterwarnings("ignore:run has empty rankings alone")


@seeds
def test_01_order_of_queries(seed: int) -> None:
    """The order of queries, on either side, changes neither values nor means."""
    for rng, qrels, run in nasty(seed):
        before, after = evaluate(qrels, run), evaluate(shuffled(rng, qrels), shuffled(rng, run))
        assert after.to_dict() == before.to_dict()
        assert after.mean() == before.mean()


@seeds
def test_02_order_of_documents(seed: int) -> None:
    """The order in which documents were entered changes nothing, among ties either."""
    for rng, qrels, run in nasty(seed):
        moved = [{q: shuffled(rng, each) for q, each in side.items()} for side in (qrels, run)]
        assert_same(values(qrels, run), values(*moved))


@seeds
def test_03_monotone_scores(seed: int) -> None:
    """An increasing map of the scores changes nothing, nor do ranks in place of scores."""
    for _, qrels, run in nasty(seed):
        before = values(qrels, run)
        assert_same(before, values(qrels, mapped(run, lambda score: score / 8)))
        numbers = mapped(run, float)
        places = {q: sorted(set(each.values())) for q, each in numbers.items()}
        dense = {q: {d: places[q].index(s) for d, s in numbers[q].items()} for q in numbers}
        assert_same(before, values(qrels, dense))
        assert_same(before, values(qrels, scored({q: order(each) for q, each in run.items()})))


@seeds
def test_04_relabelled_ids(seed: int) -> None:
    """New ids change nothing: documents' in the same order, queries' in any."""
    for rng, qrels, run in nasty(seed):
        documents = sorted({d for side in (qrels, run) for each in side.values() for d in each})
        renamed = {document: f"{i:04}" for i, document in enumerate(documents)}
        queries = list({**qrels, **run})
        other = dict(zip(queries, map(str, rng.sample(range(100), len(queries))), strict=True))
        moved = [
            {other[q]: {renamed[d]: x for d, x in each.items()} for q, each in side.items()}
            for side in (qrels, run)
        ]
        after = values(*moved)
        for key, before in values(qrels, run).items():
            assert after[key] == {other[query]: value for query, value in before.items()}, key


@seeds
@pytest.mark.parametrize("times", [2, 4])
def test_20_repeated_queries(seed: int, times: int) -> None:
    """Repeating every query keeps every mean, and multiplies counts."""
    for _, qrels, run in nasty(seed):
        copies = [
            {f"{i} {query}": documents for i in range(times) for query, documents in side.items()}
            for side in (qrels, run)
        ]
        before, after = evaluate(qrels, run), evaluate(*copies)
        for (name, k), each in fitting(qrels).items():
            wanted = before[each] * (times if name.startswith("Num") else 1)
            assert after[each] == wanted or math.isnan(after[each] + wanted), (name, k)


@seeds
def test_20_parts_and_whole(seed: int) -> None:
    """Evaluating the queries in parts gives the values of the whole, and its mean by weight."""
    for rng, qrels, run in nasty(seed):
        whole = evaluate(qrels, run)
        half = set(rng.sample(list(qrels), rng.randint(0, len(qrels))))
        parts: list[irbatch.Results] = []
        for inside in (True, False):
            part = {query: each for query, each in qrels.items() if (query in half) == inside}
            if part:
                answers = {query: run.get(query, {}) for query in part}
                parts.append(irbatch.evaluate(part, answers, list(fitting(qrels).values())))
        joined: dict[Any, Any] = {}
        for each in parts:
            joined |= each.to_dict()
        assert joined == whole.to_dict()
        for name, mean in whole.mean().items():
            if name.startswith(
                ("GM", "GAUC", "CoverageError", "FirstRank", "MeanRank", "MedianRank")
            ):
                continue  # their mean is geometric, or queries differ in weight or are left out
            weights = [
                1 if name.startswith("Num") else each.counts.queries / whole.counts.queries
                for each in parts
            ]
            weighted = sum(each[name] * w for each, w in zip(parts, weights, strict=True))
            assert weighted == pytest.approx(mean, rel=1e-14)


@seeds
def test_21_no_memory(seed: int) -> None:
    """An evaluation leaves nothing behind: A, then B, then A again gives A's values."""
    problems = [(qrels, run) for _, qrels, run in nasty(seed)]
    for (qrels, run), other in itertools.pairwise(problems):
        prepared = irbatch.Qrels(qrels), irbatch.Run(run)
        before = evaluate(qrels, run)
        first = irbatch.evaluate(*prepared, list(fitting(qrels).values()))
        evaluate(*other)
        again = irbatch.evaluate(*prepared, list(fitting(qrels).values()))
        for after in (first, again, evaluate(qrels, run)):
            assert after.to_dict() == before.to_dict()
            assert after.mean() == before.mean()


@seeds
def test_21_inputs_stay_as_they_are(seed: int) -> None:
    """No evaluation changes what it was given: entries, their order, or a single bit."""
    rng = np.random.default_rng(seed)
    for _, qrels, run in nasty(seed):
        before = repr((qrels, run))
        for settings in ({}, {"judged_only": True}, {"score_dtype": "float32"}):
            irbatch.evaluate(qrels, run, "AP P@5 nDCG@5", **settings)
        assert repr((qrels, run)) == before
    for dtype in (np.int8, np.int64, np.float64):
        labels = rng.choice([-2, 0, 1, 2], (20, 30)).astype(dtype)
        scores, lengths = rng.random((20, 30)), rng.integers(0, 31, 20)
        ids = [rng.permutation(50)[:9].tolist() for _ in range(20)]
        relevant: list[Any] = [{1, 2, 3}, [4, 5], {6: 2, 7: 0}] * 6 + [[1], {2}]
        given = (labels, scores, lengths, ids, relevant)
        kept = copy.deepcopy(given)
        irbatch.evaluate_matrix(labels, "AP nDCG@5", lengths=lengths, judged=labels)
        irbatch.evaluate_scores(scores, labels, "AP nDCG@5")
        irbatch.evaluate_ids(ids, relevant, "AP nDCG@5", judged_only=True)
        for each, copied in zip(given, kept, strict=True):
            assert repr(each) == repr(copied)
            assert np.array_equal(each, copied) if isinstance(each, np.ndarray) else each == copied


@seeds
def test_23_containers(seed: int, tmp_path: Path) -> None:
    """Dicts, TREC files, compressed files, lists of ids and labels give the same bits."""
    for rng, qrels, rankings in plain(seed):
        run = scored(rankings)
        judgments = [f"{q} 0 {d} {g}\n" for q, each in qrels.items() for d, g in each.items()]
        answers = [f"{q} Q0 {d} 7 {s!r} tag\n" for q, each in run.items() for d, s in each.items()]
        if not answers:
            continue
        paths = []
        for name, lines in (("qrels", judgments), ("run", answers)):
            text = "".join(rng.sample(lines, len(lines))).encode()
            (tmp_path / name).write_bytes(text)
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
            paths.append(tmp_path / name)
        wanted = list(MEASURES.values())
        before = evaluate(qrels, run).to_dict()
        assert irbatch.evaluate(*paths, wanted).to_dict() == before
        packed = [f"{path}.gz" for path in paths]
        assert irbatch.evaluate(*packed, wanted).to_dict() == before
        assert irbatch.evaluate_ids(rankings, qrels, wanted).to_dict() == before
        numpy_run = mapped(run, np.float32)
        assert irbatch.evaluate(mapped(qrels, np.int16), numpy_run, wanted).to_dict() == before
        labels = [[qrels[q].get(d, 0) for d in rankings[q]] for q in qrels]
        judged = [list(each.values()) for each in qrels.values()]
        seen = [each for key, each in MEASURES.items() if key[0] not in having("pooled")]
        with_labels = irbatch.evaluate_matrix(
            labels, seen, lengths=[len(row) for row in labels], judged=judged, query_ids=list(qrels)
        )
        assert cells(with_labels) == cells(irbatch.evaluate(qrels, run, seen))


@seeds
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float64])
def test_24_padding(seed: int, dtype: type[np.generic]) -> None:
    """Cells past a row's length change nothing, whatever they hold, nor do rows of length 0."""
    rng = np.random.default_rng(seed)
    wanted = list(MEASURES.values())
    for queries, depth in ((1, 1), (3, 8), (7, 20), (40, 33)):
        lengths = rng.integers(0, depth + 1, queries)
        labels = rng.choice([-2, 0, 1, 2, 4], (queries, depth)).astype(dtype)
        rows = [row[:length] for row, length in zip(labels, lengths, strict=True)]
        before = cells(irbatch.evaluate_matrix(rows, wanted, lengths=lengths))
        past_end = np.arange(depth) >= lengths[:, None]
        masked = np.ma.masked_array(labels, past_end)
        assert cells(irbatch.evaluate_matrix(masked, wanted)) == before
        for columns in (0, 1, 7, 50):
            wider = np.hstack([labels, np.full((queries, columns), 99, dtype)])
            results = irbatch.evaluate_matrix(wider, wanted, lengths=lengths)
            assert cells(results) == before
        taller = np.vstack([labels, np.full((5, depth), 99, dtype)])
        results = irbatch.evaluate_matrix(taller, wanted, lengths=[*lengths, 0, 0, 0, 0, 0])
        assert cells(results)[:queries] == before
