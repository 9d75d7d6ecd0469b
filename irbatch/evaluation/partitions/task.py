"""Evaluating a partition: the whole rankings of some queries."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from irbatch.data.ids import NO_HASHES, IdHashes, hash_ids
from irbatch.data.marked import MarkedQrels
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, warnings_kept
from irbatch.evaluation.answered import Partition
from irbatch.evaluation.counts import QueryMark, best_without
from irbatch.evaluation.partitions.findings import Findings, first_ids
from irbatch.evaluation.partitions.forms import ARRAYS
from irbatch.evaluation.partitions.item_state import items_of_run
from irbatch.evaluation.partitions.kept import QueryValues
from irbatch.evaluation.partitions.partial import PartialResult
from irbatch.evaluation.partitions.rows import Addition
from irbatch.evaluation.partitions.sums import Sums, empty_kept
from irbatch.evaluation.results import Results
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.evaluation.task import Cutoffs, Evaluation, Judgments, Measures, Rankings
from irbatch.runtime.numbers import check_choice
from irbatch.runtime.progress import Progress


@dataclass(frozen=True, eq=False)
class PartitionTask:
    """What is asked of every partition; `choose` makes it. It pickles.

    Args:
        evaluation: measures, settings, and what both read.
        keep: ``"queries"`` or ``"sums"``.
        apart: whether each partition comes with the judgments of its queries alone.
    """

    evaluation: Evaluation
    keep: str = "queries"
    apart: bool = False

    @classmethod
    def choose(
        cls,
        measures: Measures,
        cutoffs: Cutoffs = None,
        *,
        keep: str = "queries",
        apart: bool = False,
        **settings: Any,
    ) -> PartitionTask:
        """Return the task; refuse what can be refused before anything is read.

        Args:
            measures, cutoffs, keep, apart, **settings: see `irbatch.evaluate_partition`.

        Raises:
            InputError: if there is no such measure, or an option has another value than it can
                have.
        """
        check_choice("keep", keep, tuple(ARRAYS))
        return cls(Evaluation.choose(measures, cutoffs, **settings), keep, bool(apart))

    def judgments(self, qrels: Judgments) -> Qrels | MarkedQrels:
        """Return judgments as the measures read them, whatever they come as; they pickle."""
        return self.evaluation.judgments(qrels)

    def partial(
        self,
        qrels: Judgments | None,
        run: Rankings,
        name: str | None = None,
        progress: Progress | bool | None = None,
    ) -> PartialResult:
        """Return what a partition comes to, see `irbatch.evaluate_partition`."""
        partition = Partition(self.apart)
        if qrels is None or (self.apart and isinstance(qrels, Mapping) and not qrels):
            return self._unjudged(run, name)
        judgments = self.judgments(qrels)
        with warnings_kept() as caught:
            found = self.evaluation.evaluate(judgments, run, progress, partition)
        answered, known = partition.answered, set(found.query_ids)
        samples = {"answered": first_ids(answered)}
        if partition.document is not None:
            samples["document"] = (partition.document,)
        extra: IdHashes | int = found.counts.extra
        if self.apart:
            absent = QueryMark.MISSING.holds(found.marks).tolist()
            missing = itertools.compress(found.query_ids, absent)
            samples |= {"judged": first_ids(judgments.queries), "missing": first_ids(missing)}
        else:
            extra = np.unique(hash_ids(each for each in answered if each not in known))
        findings = Findings(
            extra,
            len(judgments) if self.apart else 0,
            partition.any_judged,
            tuple(best_without(found.columns, found.values, found.marks)),
            samples,
            tuple(caught),
        )
        kept, hashes = self._kept(found)
        by = None if self.apart else judgments.fingerprint
        given = self.evaluation, kept, findings
        return PartialResult(*given, judgments=by, hashes=hashes, name=name)

    def partial_of_rankings(self, qrels: Judgments, rankings: dict[Any, Any]) -> PartialResult:
        """Return what whole rankings come to, which were read before."""
        read = replace(self, evaluation=replace(self.evaluation, order_by="score"))
        part = read.partial(qrels, Run(rankings))
        given = self.evaluation, part.kept, part.findings
        return PartialResult(*given, judgments=part.judgments, hashes=part.hashes)

    def _unjudged(self, run: Rankings, name: str | None) -> PartialResult:
        """Return what queries come to that are not judged."""
        if not self.apart:
            raise InputError("None are no judgments, but for apart=True", source="qrels")
        with warnings_kept() as caught:
            queries = self.evaluation.rankings(run).queries
        samples = {"answered": first_ids(queries)}
        findings = Findings(len(queries), samples=samples, warnings=tuple(caught))
        given = self.evaluation, self._empty_kept(), findings
        return PartialResult(*given, judgments=None, name=name)

    def _empty_kept(self) -> QueryValues | Sums:
        measures = self.evaluation.measures
        return empty_kept(self.keep, measures, items_of_run(measures, self.evaluation.items))

    def _kept(self, found: Results) -> tuple[QueryValues | Sums, IdHashes]:
        """Keep of results what is to be kept, and the hashes of the queries of sums."""
        kept, hashes = self._empty_kept(), NO_HASHES
        if isinstance(kept, Sums):
            kept = kept.added([Addition(None, found, found.counts if self.apart else None)])
            hashes = hashes if self.apart else np.sort(hash_ids(found.query_ids))
        elif found.query_ids:
            kept = kept.added([Addition(found.query_ids, found)])
        return kept, hashes


def evaluate_partition(
    qrels: Judgments | None,
    run: Rankings,
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    keep: str = "queries",
    apart: bool = False,
    name: str | None = None,
    **settings: Unpack[EvaluateOptions],
) -> PartialResult:
    """Evaluate the whole rankings of some queries, of which others are evaluated elsewhere.

    Nothing is said of the queries that the partition doesn't answer before
    `PartialResult.results` is asked of the sum of all partitions. Warnings wait until then, too.

    Args:
        qrels: all judgments, as `irbatch.evaluate` takes them; with `apart`, those of this
            partition's queries alone, None if none of them is judged.
        run, measures, cutoffs, **settings: as in `irbatch.evaluate`. ``missing=`` is of the end.
        keep: ``"queries"``, the values of each, or ``"sums"``, exact sums of them, and 8 bytes a
            query by which a query in two partitions is found out.
        apart: whether no other partition has judgments of these queries, as after a join of
            judgments and rankings by query. Sums are then of constant size, and a query in two
            partitions is not found out.
        name: what messages call the partition.

    Raises:
        InputError: as `irbatch.evaluate`.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> part = evaluate_partition(qrels, {"q2": {"d1": 2.0, "d2": 1.0}}, "RR P@1", keep="sums")
    >>> part.results(qrels).mean()
    {'RR': 0.25, 'P@1': 0.0}
    """
    check_settings(evaluate_partition, settings)
    progress = settings.pop("progress", None)
    task = PartitionTask.choose(measures, cutoffs, keep=keep, apart=apart, **settings)
    return task.partial(qrels, run, name, progress)
