"""Entrances that stand in the place of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from irbatch.integrations import beir, pytrec_eval
from rows.containers import dicts
from rows.entrances import FILES_ONLY, MAPPING, NO_ARRAYS, Entrance
from rows.entrances_of_files import trec_names
from rows.problem import MEAN, Found, Problem

DEEP = 1000  # a cutoff beyond every ranking here
FAMILIES = {"nDCG": 0, "AP": 1}  # of what beir.evaluate returns


def from_pytrec_eval(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    names = trec_names(problem)
    values = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(run)
    ours = {name.replace(".", "_"): own for name, own in names.items()}
    found: Found = {own: {} for own in names.values()}
    for query, each in values.items():
        for name, value in each.items():
            found[ours[name]][query] = value
    return found


def from_ir_measures(problem: Problem, folder: Path) -> Found:
    import ir_measures

    from irbatch.integrations.ir_measures import IrbatchProvider

    qrels, run = dicts(problem)
    wanted = {ir_measures.parse_measure(str(each)): str(each) for each in problem.measures}
    found: Found = {name: {} for name in wanted.values()}
    for metric in IrbatchProvider().iter_calc(list(wanted), qrels, run):
        found[wanted[metric.measure]][metric.query_id] = metric.value
    return found


def from_beir(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    families = beir.evaluate(qrels, run, [DEEP])
    return {
        name: {MEAN: next(iter(families[place].values()))}
        for name, place in FAMILIES.items()
        if name in problem.measures
    }


def from_beirs_mrr(problem: Problem, folder: Path) -> Found:
    qrels, run = dicts(problem)
    return {"RR": {MEAN: beir.evaluate_custom(qrels, run, [DEEP], "mrr")[f"MRR@{DEEP}"]}}


PLAIN: dict[str, Any] = {**FILES_ONLY, **NO_ARRAYS, **MAPPING}
AS_9 = frozenset({"float32", "answered queries"})

ENTRANCES = [
    Entrance("pytrec_eval", from_pytrec_eval, traits=AS_9 | {"trec names"}, lacks=PLAIN),
    Entrance(
        "ir_measures",
        from_ir_measures,
        traits=frozenset({"float32", "their names"}),
        lacks=PLAIN,
        needs=("ir_measures",),
    ),
    Entrance("BEIR, evaluate", from_beir, traits=AS_9 | {"means", "rounded", "beir"}, lacks=PLAIN),
    Entrance(
        "BEIR, evaluate_custom",
        from_beirs_mrr,
        traits=frozenset({"means", "rounded", "mrr"}),
        lacks=PLAIN,
    ),
]
