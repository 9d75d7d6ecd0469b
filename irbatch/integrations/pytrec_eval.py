"""pytrec_eval's interface: change the import and keep the script.

    from irbatch.integrations import pytrec_eval

Values are those of pytrec_eval-terrier 0.5, that is of trec_eval 9.0.8, under the same names;
judgments are prepared once an evaluator. Types that pytrec_eval rejects, such as NumPy's numbers,
are taken. Where pytrec_eval ends the process (a score that is NaN, a cutoff of 0, coefficients
that are not four) there is an `InputError`; where its value is NaN, the interpolated precision of
an empty ranking, there is a 0.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import irbatch.measures.catalogue.prefixes  # noqa: F401 - here, and not in the first evaluation
from irbatch.data.dicts import are_dicts
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.errors import InputError, shown
from irbatch.evaluation.evaluation import Evaluation
from irbatch.evaluation.pipeline import compute_run
from irbatch.evaluation.settings import Settings
from irbatch.formats.lines import QRELS, RUN
from irbatch.formats.reader import read_lines
from irbatch.measures import NICKNAMES, Measure, Plan
from irbatch.measures.names import TREC_MEASURES, list_measures, list_values
from irbatch.runtime.numbers import LARGEST_WHOLE, NUMBER_ERRORS, as_floats, is_whole
from irbatch.trec_eval import take_logarithms

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "patched",
    "supported_measures",
    "supported_nicknames",
]

VERSION = "9"  # of trec_eval, which pytrec_eval wraps

supported_measures: set[str] = set(list_measures(["all_trec"], VERSION))
supported_nicknames: dict[str, set[str]] = {
    name: set(list_measures([name], VERSION)) for name in NICKNAMES
}

# As pytrec_eval reads them: of what follows, as much as is numbers.
_PARAMETERS = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)")
# Kinds of parameters that its names don't show.
_ONE_NAME = ("several", "named", "weight", "length")


class RelevanceEvaluator:
    """Evaluates runs against judgments, one set of measures for all of them.

    Args:
        query_relevance: query to document to grade. A query without judgments is left out.
        measures: names, ``"map"``, ``"ndcg_cut.5,10"``, ``"P_5"``, or nicknames.
        relevance_level: the least relevant grade.
        judged_docs_only_flag: remove unjudged documents from rankings first.

    Raises:
        InputError: a ValueError, if a measure is not known, judgments cannot be read, or a grade
            is not a whole number.

    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "P.1,2"})
    >>> evaluator.evaluate({"q1": {"d2": 1.5, "d1": 1.0}})
    {'q1': {'map': 0.5, 'P_1': 0.0, 'P_2': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, Any]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not is_whole(relevance_level) or not 1 <= relevance_level <= LARGEST_WHOLE:
            problem = f"{shown(relevance_level)} must be a whole number of at least 1"
            raise InputError(f"relevance_level {problem}", value=relevance_level)
        options = bool(judged_docs_only_flag), float(relevance_level)
        self._planned = _plan_values(_check_names(measures), *options)
        judged = drop_empty(query_relevance)
        self._qrels = Qrels(judged) if judged else None
        if self._qrels is not None and (parts := self._qrels.levels % 1 != 0).any():
            grade = float(self._qrels.levels[parts][0])
            query, document = self._qrels.first_of(grade)
            problem = f"grade {grade} is not a whole number, as trec_eval's are"
            raise InputError(problem, source="qrels", query=query, document=document, value=grade)

    def evaluate(self, scores: Mapping[Any, Mapping[Any, Any]]) -> dict[Any, dict[str, float]]:
        """Evaluate a run, query to document to score: query to name to value, in the run's order.

        Queries without judgments are left out, and so are judged queries without a ranking.

        Raises:
            InputError: a ValueError, if a score is not a number.
        """
        if scores is None or self._qrels is None:
            return {}
        run = Run(scores)
        row_of = self._qrels.row_of
        queries = [query for query in scores if query in row_of]
        rows = np.fromiter(map(row_of.__getitem__, queries), np.intp, len(queries))
        labels, columns, measures, evaluation = self._planned
        values = np.zeros((rows.size, len(measures) + 1))  # the last column stays 0
        if measures and rows.size:
            computed = compute_run(evaluation, self._qrels, run, rows=rows)
            values[:, :-1] = computed.of_queries.values[rows]
            take_logarithms(values, measures)
        results = map(dict, map(functools.partial(zip, labels), values[:, columns].tolist()))
        return dict(zip(queries, results, strict=True))


class _Planned(NamedTuple):
    """What is computed: values under pytrec_eval's labels, and the measure of each by its place."""

    labels: list[str]
    columns: list[int]
    measures: list[Measure]
    evaluation: Evaluation


@functools.lru_cache(maxsize=64)  # scripts make an evaluator for every run
def _plan_values(names: frozenset[str], judged_only: bool, level: float) -> _Planned:
    parameters: dict[str, set[str]] = defaultdict(set)  # of measures of one name together
    for wish in names:
        for name in supported_nicknames.get(wish, (wish,)):
            stem, numbers = (name, "") if name in supported_measures else _split(name)
            parameters[stem] |= set(numbers.split(",") if numbers else ())
    values = [
        value._replace(label=name) if trec.takes in _ONE_NAME else value
        for name, trec in TREC_MEASURES.items()
        if name in parameters
        for value in list_values(trec, ",".join(sorted(parameters[name])))
    ]
    measures = list(dict.fromkeys(value.measure for value in values if value.measure))
    # Texts, such as runid, are 0.0 in pytrec_eval: a column behind those of measures.
    places = {measure: place for place, measure in enumerate(measures)}
    columns = [places[value.measure] if value.measure else len(measures) for value in values]
    settings = Settings.choose(trec_eval=VERSION, judged_only=judged_only, rel=level)
    evaluation = Evaluation(Plan(measures, settings.open_parameters()), settings)
    return _Planned([value.label for value in values], columns, measures, evaluation)


def drop_empty(query_relevance: Mapping[Any, Mapping[Any, Any]]) -> Mapping[Any, Any]:
    """Leave out queries without judgments; `Qrels` rejects all other forms."""
    if not isinstance(query_relevance, Mapping):
        Qrels(query_relevance)
    if are_dicts(query_relevance) and all(query_relevance.values()):
        return query_relevance
    judged = query_relevance.items()
    return {
        query: judgments
        for query, judgments in judged
        if not isinstance(judgments, Mapping) or len(judgments)
    }


def _check_names(measures: Iterable[str]) -> frozenset[str]:
    if isinstance(measures, str) or not isinstance(measures, Iterable):
        raise InputError(f"measures {shown(measures)} are not several names", source="measures")
    names = list(measures)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"unsupported measure {shown(name)}", source="measures", value=name)
    return frozenset(names)


def _split(name: str) -> tuple[str, str]:
    """Take ``P_5`` or ``P.5,10`` apart into name and parameters."""
    for stem in supported_measures:
        if name.startswith(stem) and (match := _PARAMETERS.match(name, len(stem))):
            return stem, match[1]
    raise InputError(f"unsupported measure {shown(name)}", source="measures", value=name)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse lines of ``query Q0 document rank score tag``: query to document to score.

    Raises:
        InputError: if a line has another form, or a query the same document twice.

    >>> parse_run(["q1 Q0 d1 1 2.5 mine"])
    {'q1': {'d1': 2.5}}
    """
    return read_lines(_list_lines(f_run), RUN)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Parse lines of ``query iter document grade``: query to document to grade.

    Raises:
        InputError: if a line has another form, a grade is not whole, or a query has the same
            document twice.

    >>> parse_qrel(["q1 0 d1 1"])
    {'q1': {'d1': 1}}
    """
    return read_lines(_list_lines(f_qrel), QRELS, whole=True)


def _list_lines(lines: Iterable[str]) -> list[str]:
    if isinstance(lines, str) or not isinstance(lines, Iterable):
        raise InputError(f"{shown(lines)} is not a file or a list of lines")
    return list(lines)


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Combine the values of queries: sum counts (``num_``), average anything else.

    Of a ``gm_`` measure values are logarithms. The mean of none is NaN, as in pytrec_eval.

    Raises:
        InputError: if a value is not a number.
    """
    try:
        numbers = as_floats(list(values))
    except (*NUMBER_ERRORS, TypeError):
        raise InputError(f"values of {measure} are numbers, not {shown(values)}") from None
    if not numbers.size:
        return 0.0 if measure.startswith("num_") else math.nan
    with np.errstate(over="ignore"):
        if measure.startswith("num_"):
            return float(numbers.sum())
        if measure.startswith("gm_"):
            return float(np.exp(numbers.sum() / numbers.size))
        return float(numbers.mean())


@contextmanager
def patched() -> Iterator[ModuleType]:
    """Have code that says ``import pytrec_eval`` use this module, inside a ``with`` block.

    BEIR, MTEB, ir_measures and others look `RelevanceEvaluator` up in the module when they
    evaluate, so it is exchanged there. Without pytrec_eval installed this module stands in for
    it, and it is what comes back. Names imported from it before keep their meaning.

    >>> with patched() as module:
    ...     module.RelevanceEvaluator is RelevanceEvaluator
    True
    """
    here = sys.modules[__name__]
    with ExitStack() as undo:
        try:
            import pytrec_eval as module
        except ImportError:
            module = sys.modules["pytrec_eval"] = here
            undo.callback(sys.modules.pop, "pytrec_eval")
        theirs = {name: value for name, value in vars(module).items() if name in __all__}
        undo.callback(vars(module).update, theirs)
        vars(module).update({name: getattr(here, name) for name in theirs})
        yield module
