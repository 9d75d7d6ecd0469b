"""The state of an evaluator of batches: replaced as a whole, so that errors leave it as it was."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from irbatch.errors import InputError, many
from irbatch.evaluation.batches.columns import Columns
from irbatch.evaluation.counts import Counts
from irbatch.evaluation.partitions.kept import QueryValues, check_mixture
from irbatch.evaluation.partitions.rows import Addition, Rows, values_of
from irbatch.evaluation.partitions.sums import Sums
from irbatch.evaluation.results import Results
from irbatch.evaluation.score_evaluator import ScoreBatch

# Queries and graded candidates that wait to be evaluated together. What that costs once, a third
# of a millisecond, is then less than a tenth of the time of updates with 32 queries each
# (python -m benchmarks --only updates).
MOST_WAITING = 8192


class State(NamedTuple):
    """What has come so far; nothing of it changes but the columns."""

    kept: QueryValues | Sums
    columns: Columns
    signature: Mapping[str, str]
    waiting: tuple[Addition, ...] = ()  # to be added to what is kept
    load: int = 0  # what they hold, see `MOST_WAITING`
    recent: set[Hashable] | None = None  # their ids; after an error perhaps more

    @property
    def queries(self) -> int:
        """How many there are, without those in columns."""
        return len(self.kept) + sum(each.fresh for each in self.waiting)

    def settled(self) -> State:
        """Return the same with nothing waiting."""
        if not self.waiting:
            return self
        return State(self.kept.added(self.waiting), self.columns, self.signature)

    def adding(
        self,
        batch: ScoreBatch | Results,
        queries: int,
        ids: Sequence[Hashable] | None,
        settings: Mapping[str, str],
        counts: Counts | None = None,
    ) -> State:
        """Return this with a batch of some queries.

        Raises:
            InputError: if there are not as many ids, only some queries have any, or one that came
                before has other values.
        """
        if ids is not None and len(ids) != queries:
            raise InputError(
                f"{many(len(ids), 'id')} for {many(queries, 'query')}", source="query_ids"
            )
        twice = [each for each in ids or () if each in self.columns] if len(self.columns) else ()
        if twice:
            raise InputError("it came in columns before", source="query_ids", query=twice[0])
        state = self.settled() if self.load >= MOST_WAITING else self
        addition = Addition(None, batch, counts, queries)
        if isinstance(state.kept, QueryValues):
            state, addition = state._with_ids(state.kept, addition, ids)
        return state._replace(
            waiting=(*state.waiting, addition),
            load=state.load + (batch.size if isinstance(batch, ScoreBatch) else queries),
            signature=join_settings(state.signature, settings),
        )

    def _with_ids(
        self, kept: QueryValues, addition: Addition, ids: Sequence[Hashable] | None
    ) -> tuple[State, Addition]:
        """Return what is to be added of queries with ids, or without, and what to add it to."""
        have_ids = self.waiting[0].ids is not None if self.waiting else kept.have_ids
        check_mixture(len(self.waiting) or len(kept), have_ids, ids)
        if ids is None:
            return self, addition
        recent, different = self.recent or set(), set(ids)
        if len(different) == len(ids) and recent.isdisjoint(ids) and not kept.may_have(ids):
            recent |= different
            return self._replace(recent=recent), addition._replace(ids=ids)
        kept = kept.added(self.waiting) if self.waiting else kept
        batch = addition.batch
        rows = Rows(values_of(batch), batch.marks, batch.items_of_queries)
        settled = kept.settle(ids, rows)._replace(counts=addition.counts)
        return State(kept, self.columns, self.signature, recent=different), settled


def join_settings(settings: Mapping[str, str], more: Mapping[str, str]) -> Mapping[str, str]:
    """Join settings: where they differ, both are told."""
    if settings == more:
        return settings
    joined = dict(settings)
    for name, value in more.items():
        said = joined.get(name, value)
        joined[name] = said if value in said.split("; ") else f"{said}; {value}"
    return joined
