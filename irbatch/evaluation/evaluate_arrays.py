"""The public verbs for input without scores: id lists, and labels in rank order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from irbatch.data.arguments.arrays import read_n_relevant
from irbatch.data.arguments.id_lists import read_id_lists, read_large_ids
from irbatch.data.arguments.ids import read_query_ids
from irbatch.data.arguments.labels import LabelRows
from irbatch.data.from_columns import IdOverflowError
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warn
from irbatch.evaluation.averaging import evaluate_run, make_results
from irbatch.evaluation.pipeline import compute_blocks
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import Cutoffs, Wishes
from irbatch.evaluation.settings import Settings
from irbatch.measures import Plan, parse_measures
from irbatch.pack.labels import pack_labels
from irbatch.runtime.arrays import is_tensor

__all__ = ["evaluate_ids", "evaluate_matrix"]


def evaluate_ids(
    ranked: Any,
    relevant: Any,
    measures: Wishes,
    cutoffs: Cutoffs = None,
    *,
    pad: object = None,
    missing: str = "zero",
    no_relevant: str = "zero",
    judged_only: bool = False,
    threads: int | None = None,
) -> Results:
    """Evaluate rankings given as document ids, best first.

    Args:
        ranked: for each query the retrieved ids: a matrix of whole numbers ``(queries, depth)``,
            a sequence of sequences, or a mapping of query ids to sequences.
        relevant: for each query the relevant ids: a sequence or mapping, as `ranked`, of lists or
            sets of ids, or of mappings of ids to grades. Sequences pair by position and must be
            equally long; mappings pair by query id.
        measures, cutoffs, missing, no_relevant, judged_only, threads: as in `irbatch.evaluate`.
        pad: an id that stands for "no document" at the end of a row of `ranked` or `relevant`,
            such as faiss' -1.

    Raises:
        InputError: for lists that don't pair up, a document that stands in a ranking twice, or
            ids of different kinds on the two sides.

    >>> evaluate_ids([[11, 1, 17], [16, 1, 6]], [[11, 1, 7], [4, 16]], "P@3 RR").mean()
    {'P@3': 0.5, 'RR': 1.0}
    """
    settings = Settings(missing, no_relevant, judged_only)
    plan = Plan(parse_measures(measures, cutoffs))
    _check_pair(ranked, relevant)
    try:
        qrels = Qrels(read_id_lists(relevant, "qrels", pad))
        run = Run(read_id_lists(ranked, "run", pad))
    except IdOverflowError:
        qrels = Qrels(read_large_ids(relevant, "qrels", pad))
        run = Run(read_large_ids(ranked, "run", pad))
    results = evaluate_run(plan, qrels, run, settings, "as given", threads, in_order=True)
    results.has_ids = isinstance(ranked, Mapping)
    return results


def evaluate_matrix(
    relevance: Any,
    measures: Wishes,
    cutoffs: Cutoffs = None,
    *,
    lengths: Any = None,
    judged: Any = None,
    n_relevant: Any = None,
    query_ids: Sequence[Any] | None = None,
    no_relevant: str = "zero",
    threads: int | None = None,
) -> Results:
    """Evaluate relevance labels that stand in rank order already.

    Args:
        relevance: ``(queries, depth)`` bools or grades, or rows of different lengths.
        measures, cutoffs, no_relevant, threads: as in `irbatch.evaluate`.
        lengths: how many cells of each row are documents; default all (of a masked array, those
            not masked).
        judged: for each query the grades of all its judged documents, ranked or not, in any
            order; default: those ranked are all there are.
        n_relevant: for 0/1 labels, how many relevant documents each query has in all.
        query_ids: the queries' ids; default 0, 1, ….

    Raises:
        InputError: for shapes that don't match or labels that are no grades.

    >>> evaluate_matrix([[1, 0, 1, 0, 1]], "AP P@5 nDCG@3").mean()
    {'AP': 0.7555555555555555, 'P@5': 0.6, 'nDCG@3': 0.7039180890341347}
    """
    settings = Settings(no_relevant=no_relevant)
    plan = Plan(parse_measures(measures, cutoffs))
    queries = read_query_ids(query_ids)
    labels = LabelRows(relevance, lengths, queries)
    if lengths is None and labels.ends_in(-1):
        warn(
            "rows end in label -1, which counts as a judged document of no use; "
            "if it is padding, say so with lengths="
        )
    if n_relevant is not None:
        if judged is not None:
            raise InputError("give judged= or n_relevant=, not both", source="n_relevant")
        judged = _ones(n_relevant, labels)
    everything = None
    if judged is not None:
        everything = LabelRows(judged, name="judged")
        if len(everything) != len(labels):
            raise InputError(f"{len(everything)} rows for {len(labels)} queries", source="judged")
        everything.queries = labels.queries  # so that errors call the rows by the same ids
    return _evaluate_labels(plan, labels, everything, settings, "as given", threads)


def _evaluate_labels(
    plan: Plan,
    labels: LabelRows,
    judged: LabelRows | None,
    settings: Settings,
    order: str,
    threads: int | None,
) -> Results:
    blocks = pack_labels(labels, judged)
    computed = compute_blocks(plan, blocks, len(labels), settings, threads)
    return make_results(computed, labels.queries, order)


def _ones(n_relevant: Any, labels: LabelRows) -> list[np.ndarray[Any, Any]]:
    """Turn numbers of relevant documents into rows of that many labels 1."""
    numbers = read_n_relevant(n_relevant, len(labels))
    for row in range(len(labels)):
        if labels.row(row).max(initial=0) > 1:
            problem = "labels above 1 need judged=, the grades of all judged documents"
            raise InputError(problem, source="n_relevant", query=labels.queries[row])
    return [np.ones(number, np.int8) for number in numbers.tolist()]


def _check_pair(ranked: Any, relevant: Any) -> None:
    """Refuse two sides that are not both mappings, or both sequences of one length."""
    if isinstance(ranked, Mapping) != isinstance(relevant, Mapping):
        raise InputError("rankings and relevant documents are both mappings, or both sequences")
    if isinstance(ranked, Mapping):
        return
    for name, side in (("ranked", ranked), ("relevant", relevant)):
        scalar = getattr(side, "ndim", 2) == 0
        if is_tensor(side) and side.ndim == 1:
            raise InputError("a list of ids is needed for each query; of one each: [:, None]",
                             source=name)  # fmt: skip
        if isinstance(side, str | AbstractSet) or not hasattr(side, "__len__") or scalar:
            raise InputError(f"a {type(side).__name__} is no sequence of queries", source=name)
    if len(ranked) != len(relevant):
        raise InputError(
            f"{len(ranked)} rankings, but relevant documents of {len(relevant)} queries",
            source="ranked",
        )
