"""A provider for ir_measures: every measure of its that irbatch has, in one pass.

    import ir_measures
    from irbatch.integrations.ir_measures import install

    install()
    ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.AP], qrels, run)

Values are those of ir_measures' own pytrec_eval provider, for all measures under the same order:
score as float32, ties by document id descending. ir_measures itself breaks ties by ascending id
in `RR` with a cutoff and in `Judged`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.evaluation.averaging import compute_values
from irbatch.evaluation.settings import Settings
from irbatch.measures import Measure, Plan, measure
from irbatch.pack import pack_run

try:
    import ir_measures as irm
    from ir_measures import measures as theirs
    from ir_measures.providers.base import NOT_PROVIDED, Choices
    from ir_measures.providers.base import Any as AnyValue
except ImportError as missing:
    raise ImportError("for ir_measures' interface: pip install ir_measures") from missing

__all__ = ["IrbatchEvaluator", "IrbatchProvider", "install", "uninstall"]

CONVENTIONS = "9"  # of trec_eval, which ir_measures takes its values from
ANY = AnyValue()


def _with_rel(name: str) -> Callable[[Any], Measure]:
    return lambda wish: measure(name)(rel=float(wish["rel"]))


def _set_precision(wish: Any) -> Measure:
    return _with_rel("Rcap" if wish["relative"] else "P")(wish)


def _f_measure(wish: Any) -> Measure:
    # It hands its beta to trec_eval, where it weighs as beta² does in the definition.
    return _with_rel("F")(wish)(weight=wish["beta"])


def _ndcg(wish: Any) -> Measure:
    if wish["gains"] is not NOT_PROVIDED:
        return measure("nDCG")(gain=wish["gains"])
    return measure("nDCG")(gain={"log2": "linear", "exp-log2": "exp"}[wish["dcg"]])


def _retrieved(wish: Any) -> Measure:
    return measure("NumRet") if wish["rel"] is NOT_PROVIDED else _with_rel("NumRelRet")(wish)


def _rank_biased_precision(wish: Any) -> Measure:
    return measure("RBP")(gain="binary", rel=float(wish["rel"]), p=wish["p"])


# What ir_measures can ask for, and the measure that it means, but for its cutoff.
MEANINGS: dict[str, Callable[[Any], Measure]] = {
    "P": _with_rel("P"),
    "R": _with_rel("R"),
    "RR": _with_rel("RR"),
    "AP": _with_rel("AP"),
    "Rprec": _with_rel("Rprec"),
    "Success": _with_rel("Success"),
    "Bpref": _with_rel("Bpref"),
    "infAP": _with_rel("InfAP"),
    "IPrec": lambda wish: _with_rel("IPrec")(wish)(recall=wish["recall"]),
    "nDCG": _ndcg,
    "RBP": _rank_biased_precision,
    "SetP": _set_precision,
    "SetR": _with_rel("R"),
    "SetF": _f_measure,
    "SetAP": _with_rel("SetAP"),
    "NumQ": lambda wish: measure("NumQ"),
    "NumRel": _with_rel("NumRel"),
    "NumRet": _retrieved,
    "Judged": lambda wish: measure("Judged"),
}
SUPPORTED = [
    theirs._P(cutoff=AnyValue(required=True), rel=ANY, judged_only=ANY),
    theirs._R(cutoff=AnyValue(required=True), rel=ANY, judged_only=ANY),
    theirs._RR(cutoff=ANY, rel=ANY, judged_only=ANY),
    theirs._AP(cutoff=ANY, rel=ANY, judged_only=ANY),
    theirs._Rprec(rel=ANY, judged_only=ANY),
    theirs._Success(cutoff=AnyValue(required=True), rel=ANY, judged_only=ANY),
    theirs._Bpref(rel=ANY),
    theirs._infAP(rel=ANY),
    theirs._IPrec(recall=AnyValue(required=True), rel=ANY, judged_only=ANY),
    theirs._nDCG(cutoff=ANY, dcg=Choices("log2", "exp-log2"), gains=ANY, judged_only=ANY),
    theirs._RBP(cutoff=ANY, p=ANY, rel=AnyValue(required=True)),
    theirs._SetP(rel=ANY, relative=ANY, judged_only=ANY),
    theirs._SetR(rel=ANY),
    theirs._SetF(rel=ANY, beta=ANY, judged_only=ANY),
    theirs._SetAP(rel=ANY, judged_only=ANY),
    theirs._NumQ(),
    theirs._NumRel(rel=ANY),
    theirs._NumRet(rel=ANY),
    theirs._Judged(cutoff=ANY),
]


def _meaning(wish: Any) -> Measure:
    """Return the measure that ir_measures' stands for."""
    plain = MEANINGS[wish.NAME](wish)
    cutoff = wish["cutoff"] if "cutoff" in wish.SUPPORTED_PARAMS else NOT_PROVIDED
    return plain if cutoff is NOT_PROVIDED else plain @ cutoff


class IrbatchProvider(irm.providers.Provider):  # type: ignore[misc]
    """irbatch, as ir_measures knows its providers."""

    NAME = "irbatch"
    SUPPORTED_MEASURES = SUPPORTED

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> IrbatchEvaluator:
        return IrbatchEvaluator(list(measures), qrels)


class IrbatchEvaluator(irm.providers.Evaluator):  # type: ignore[misc]
    """Measures and judgments, prepared once for any number of runs.

    Args:
        measures: ir_measures' measures.
        qrels: judgments in any form that ir_measures takes.

    Raises:
        InputError: for judgments that cannot be read, or parameters out of range.
    """

    def __init__(self, measures: list[Any], qrels: Any) -> None:
        table = irm.util.QrelsConverter(qrels).as_dict_of_dict()
        super().__init__(measures, set(table))
        self._qrels = Qrels(table) if table else None
        # Unjudged documents are removed before or not: as many passes as are asked for.
        self._passes: dict[bool, list[Any]] = defaultdict(list)
        for wish in measures:
            judged_only = "judged_only" in wish.SUPPORTED_PARAMS and bool(wish["judged_only"])
            self._passes[judged_only].append(wish)

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the values of all queries that are judged and answered."""
        rankings = irm.util.RunConverter(run).as_dict_of_dict()
        if self._qrels is None or not rankings:
            return
        read = Run(rankings)
        queries = self._qrels.queries
        rows = np.array([row for row, query in enumerate(queries) if query in rankings], np.intp)
        for judged_only, wishes in self._passes.items():
            settings = Settings.like(CONVENTIONS, None, None, judged_only=judged_only)
            meanings = [_meaning(wish) for wish in wishes]
            plan = Plan(list(dict.fromkeys(meanings)), settings.open_parameters())
            blocks = pack_run(self._qrels, read, rows, settings.ordering)
            values = compute_values(plan, blocks, rows.size, settings, None).values
            for wish, meaning in zip(wishes, meanings, strict=True):
                column = values[:, plan.measures.index(meaning)].tolist()
                for row, value in zip(rows.tolist(), column, strict=True):
                    yield irm.Metric(query_id=queries[row], measure=wish, value=value)


def install() -> IrbatchProvider:
    """Put irbatch first in ir_measures' default pipeline; installing it again changes nothing.

    Measures that irbatch doesn't have go to the providers behind it, as before.

    Returns:
        The provider, also known to ir_measures as ``"irbatch"``.
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
    irm.DefaultPipeline.providers[:] = [
        each for each in irm.DefaultPipeline.providers if each.NAME != IrbatchProvider.NAME
    ]
