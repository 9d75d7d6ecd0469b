"""Evaluating rankings that are lists of document ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irbatch.data.arguments.id_lists import read_id_lists
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.evaluation.averaging import evaluate_run
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import Cutoffs, Measures
from irbatch.evaluation.settings import Settings
from irbatch.measures import Plan, parse_measures


def evaluate_ids(
    ranked: Any,
    relevant: Any,
    measures: Measures,
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
        InputError: if lists don't pair up, a document stands in a ranking twice, or ids are of
            different kinds on the two sides.

    >>> evaluate_ids([[11, 1, 17], [16, 1, 6]], [[11, 1, 7], [4, 16]], "P@3 RR").mean()
    {'P@3': 0.5, 'RR': 1.0}
    """
    settings = Settings(missing, no_relevant, judged_only)
    plan = Plan(parse_measures(measures, cutoffs))
    rankings, judgments = read_id_lists(ranked, relevant, pad)
    qrels, run = Qrels(judgments), Run(rankings)
    results = evaluate_run(plan, qrels, run, settings, "as given", threads, in_order=True)
    results.has_ids = isinstance(ranked, Mapping)
    return results
