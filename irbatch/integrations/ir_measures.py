"""A provider for ir_measures: every measure of its that irbatch has, in one pass.

    import ir_measures
    from irbatch.integrations.ir_measures import install

    install()
    ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.AP], qrels, run)

Values are those of ir_measures' own pytrec_eval provider, for all measures under the same order:
score as float32, ties by document id descending. ir_measures itself breaks ties by ascending id,
and compares scores as float64, in `RR` with a cutoff, in `Judged` and in `RBP`; and so does
pyndeval, which it takes measures of diversity from. Judgments of these are subtopics' by their
``iteration``, as there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError
from irbatch.evaluation.runs import evaluate
from irbatch.measures import Measure
from irbatch.measures.ir_measures import find_meaning, list_forms

try:
    import ir_measures as irm
except ImportError as missing:
    raise ImportError("for ir_measures' interface: pip install ir_measures") from missing

__all__ = ["IrbatchEvaluator", "IrbatchProvider", "install", "uninstall"]

CONVENTIONS = "9"  # of trec_eval, which ir_measures takes its values from


class IrbatchProvider(irm.providers.Provider):  # type: ignore[misc]
    """irbatch, as ir_measures knows its providers."""

    NAME = "irbatch"
    SUPPORTED_MEASURES = [form.supported for form in list_forms(irm)]  # noqa: RUF012 - as theirs

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> IrbatchEvaluator:
        return IrbatchEvaluator(list(measures), qrels)


class IrbatchEvaluator(irm.providers.Evaluator):  # type: ignore[misc]
    """ir_measures' measures and judgments of any form of its, prepared once for all runs.

    Raises:
        InputError: if judgments cannot be read, or a parameter is out of range.
    """

    def __init__(self, measures: list[Any], qrels: Any) -> None:
        converter = irm.util.QrelsConverter(qrels)
        # Unjudged documents are removed before or not, and what is judged may be subtopics: as many
        # passes as are asked for.
        self._passes: dict[tuple[bool, bool], list[tuple[Any, Measure]]] = defaultdict(list)
        for measure in measures:
            if (meaning := find_meaning(measure)) is None:
                problem = f"irbatch has no {measure} of ir_measures"
                raise InputError(problem, source="measures", value=measure)
            judged_only = "judged_only" in measure.SUPPORTED_PARAMS and bool(measure["judged_only"])
            of_subtopics = meaning.declaration.reads == "subtopics"
            self._passes[judged_only, of_subtopics].append((measure, meaning))
        self._subtopics = None
        if any(of_subtopics for _, of_subtopics in self._passes):
            converter = irm.util.QrelsConverter(list(converter.as_namedtuple_iter()))
            self._subtopics = _read_subtopics(converter.qrels)
        table = converter.as_dict_of_dict()
        super().__init__(measures, set(table))
        self._qrels = Qrels(table) if table else None

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the values of all queries that are judged and answered."""
        rankings = irm.util.RunConverter(run).as_dict_of_dict()
        if self._qrels is None or not rankings:
            return
        read = Run(rankings)
        for (judged_only, of_subtopics), group in self._passes.items():
            measures = list(dict.fromkeys(meaning for _, meaning in group))
            qrels = self._subtopics if of_subtopics and self._subtopics else self._qrels
            if not read.answers(qrels).size:
                continue
            settings: Any = {"trec_eval": CONVENTIONS, "judged_only": judged_only}
            results = evaluate(qrels, read, measures, **settings)
            for theirs, meaning in group:
                for query, value in results.per_query(meaning).items():
                    yield irm.Metric(query_id=query, measure=theirs, value=value)


def _read_subtopics(judgments: list[Any]) -> Qrels | None:
    """Read judgments whose ``iteration`` is the subtopic."""
    if not judgments:
        return None
    queries, documents, grades = (
        [getattr(judgment, name) for judgment in judgments]
        for name in ("query_id", "doc_id", "relevance")
    )
    subtopics = [getattr(judgment, "iteration", "0") for judgment in judgments]
    return Qrels.from_columns(queries, documents, grades, subtopics=subtopics)


def install() -> IrbatchProvider:
    """Put irbatch first in ir_measures' default pipeline; installing it again changes nothing.

    Measures that irbatch doesn't have go to the providers behind it, as before. Returns the
    provider, also known to ir_measures as ``"irbatch"``.
    """
    provider: IrbatchProvider | None = irm.providers.registry.get(IrbatchProvider.NAME)
    if provider is None:
        provider = IrbatchProvider()
        irm.providers.register(provider)
    if provider not in irm.DefaultPipeline.providers:
        irm.DefaultPipeline.providers.insert(0, provider)
    return provider


def uninstall() -> None:
    """Take irbatch out of the default pipeline again."""
    providers = irm.DefaultPipeline.providers
    providers[:] = [provider for provider in providers if provider.NAME != IrbatchProvider.NAME]
