"""Evaluating rankings that stand in order already: lists of document ids, or of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from irbatch.array_types import Ints
from irbatch.data.cells import LabelRows, read_n_relevant
from irbatch.data.frames import pair_series
from irbatch.data.id_lists import read_id_lists
from irbatch.data.ids import read_query_ids
from irbatch.data.runs import Run
from irbatch.errors import InputError, many, warn
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Measures
from irbatch.evaluation.pipeline import compute_blocks, evaluate_run
from irbatch.evaluation.queries import notes_on
from irbatch.evaluation.results import Results
from irbatch.pack.labels import pack_labels

if TYPE_CHECKING:
    from irbatch.data.items import Items


def evaluate_ids(
    ranked: Any,
    relevant: Any,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    pad: object = None,
    query_ids: Sequence[Any] | None = None,
    missing: str = "zero",
    no_relevant: str = "zero",
    judged_only: bool = False,
    rel: float | None = None,
    items: Items | None = None,
    exclude: Any = None,
    threads: int | None = None,
) -> Results:
    """Evaluate rankings given as document ids, best first.

    Args:
        ranked: for each query the retrieved ids: a matrix of whole numbers ``(queries, depth)``,
            a sequence of sequences, or a mapping of query ids to sequences.
        relevant: for each query the relevant ids: a sequence or mapping, as `ranked`, of lists or
            sets of ids, or of mappings of ids to grades. Sequences pair by position and must be
            equally long; mappings pair by query id, and so do two series of pandas, by their
            index; one alone is rejected if that is not 0, 1, …. Also a sparse matrix of queries by
            documents, whose values are grades; or `Qrels`, with marks where measures read them, all
            of whose queries are averaged. None, for measures of items that read no judgments: all
            rankings are averaged then.
        measures, cutoffs, missing, no_relevant, judged_only, rel, items, threads: as in
            `irbatch.evaluate`.
        exclude: as in `irbatch.evaluate`; or lists of ids that pair with `ranked` by position.
        pad: an id that stands for "no document" at the end of a row of `ranked` or `relevant`,
            such as faiss' -1.
        query_ids: the ids of rankings that are not a mapping, by which they pair with `Qrels`;
            default 0, 1, ….

    Raises:
        InputError: if lists don't pair up, a document stands in a ranking twice, or ids are of
            different kinds on the two sides.

    >>> evaluate_ids([[11, 1, 17], [16, 1, 6]], [[11, 1, 7], [4, 16]], "P@3 RR").mean()
    {'P@3': 0.5, 'RR': 1.0}
    """
    evaluation = Evaluation.choose(
        measures, cutoffs, in_order=True, missing=missing, no_relevant=no_relevant,
        judged_only=judged_only, rel=rel, items=items, threads=threads,
    )  # fmt: skip
    unjudged = relevant is None
    if unjudged:
        n = len(ranked) if hasattr(ranked, "__len__") else 0
        relevant = dict.fromkeys(ranked, ()) if isinstance(ranked, Mapping) else [()] * n
    ranked, relevant = pair_series(ranked, relevant)
    rankings, qrels = read_id_lists(ranked, relevant, pad, query_ids)
    if exclude is not None:
        from irbatch.data.items import read_seen  # for those who leave out what was seen

        seen = read_seen(exclude, None if isinstance(ranked, Mapping) else rankings.queries)
        evaluation = evaluation._replace(exclude=seen)
    results = evaluate_run(evaluation, None if unjudged else qrels, Run(rankings))
    results.has_ids = isinstance(ranked, Mapping) or query_ids is not None
    return results


def evaluate_matrix(
    relevance: Any,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    lengths: Any = None,
    judged: Any = None,
    n_relevant: Any = None,
    query_ids: Sequence[Any] | None = None,
    no_relevant: str = "zero",
    rel: float | None = None,
    threads: int | None = None,
) -> Results:
    """Evaluate relevance labels that stand in rank order already.

    Args:
        relevance: ``(queries, depth)`` bools or grades, or rows of different lengths.
        measures, cutoffs, no_relevant, rel, threads: as in `irbatch.evaluate`.
        lengths: how many cells of each row are documents; default all (of a masked array, those
            not masked).
        judged: for each query the grades of all its judged documents, ranked or not, in any
            order; default: those ranked are all there are.
        n_relevant: for 0/1 labels, how many relevant documents each query has in all.
        query_ids: the queries' ids; default 0, 1, ….

    Raises:
        InputError: if shapes don't match, or labels are NaN or beyond 2^53.

    >>> evaluate_matrix([[1, 0, 1, 0, 1]], "AP P@5 nDCG@3").mean()
    {'AP': 0.7555555555555555, 'P@5': 0.6, 'nDCG@3': 0.7039180890341347}
    """
    options: Any = {"no_relevant": no_relevant, "rel": rel, "threads": threads}
    evaluation = Evaluation.choose(measures, cutoffs, in_order=True, marks=False, **options)
    labels = LabelRows(relevance, lengths, read_query_ids(query_ids))
    if lengths is None and labels.ends_in(-1):
        warn(
            "rows end in label -1, which counts as a judged document of no use; "
            "if it is padding, say so with lengths="
        )
    everything: LabelRows | Ints | None = None
    if n_relevant is not None and judged is not None:
        raise InputError("give judged= or n_relevant=, not both", source="n_relevant")
    if judged is not None:
        everything = LabelRows(judged, name="judged")
        if len(everything) != len(labels):
            numbers = f"{many(len(everything), 'row')} for {many(len(labels), 'query')}"
            raise InputError(numbers, source="judged")
        everything.queries = labels.queries  # so that errors call the rows by the same ids
    elif n_relevant is not None:
        everything = read_n_relevant(n_relevant, labels.queries)
        for row, query in enumerate(labels.queries):
            if labels.row(row).max(initial=0) > 1:
                problem = "labels above 1 need judged=, the grades of all judged documents"
                raise InputError(problem, source="n_relevant", query=query)
    blocks = pack_labels(labels, everything)
    rows = compute_blocks(evaluation, blocks, labels.queries)
    results = Results(rows, labels.queries, evaluation.measures, None, evaluation.signature())
    warn(*notes_on(results))
    return results
