"""What is in memory: dicts, frames, lists of ids, judgments by subtopic, and systems to compare."""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import irbatch
from benchmarks import data
from benchmarks.harness import (
    JUDGED,
    USUAL,
    Settings,
    Table,
    Timed,
    absence,
    in_turn,
    json_of,
    multiple,
    rounds_of,
)
from benchmarks.rows import SMALL, small_key
from benchmarks.tools import (
    IN_QUERIES,
    IR_MEASURES,
    PEERS,
    PYTREC_EVAL,
    RANX,
    TWENTY,
    polars_values,
    ranx_values,
    usual,
)
from irbatch.comparing.rankings import overlap
from irbatch.statistics.resampling import flip_signs

Nested = dict[str, dict[str, float]]
Sides = tuple[Any, Any]
OURS = "irbatch.integrations.pytrec_eval"


# ---------------------------------------------------------------- dicts


def dicts(settings: Settings) -> Iterator[Table]:
    """From dicts of dicts to means (pytrec_eval: to values of queries), and what is prepared."""
    names = usual(settings.depth)
    irbatch.runtime.warmup()
    for judged in JUDGED:
        title = f"dicts of dicts: {settings.size(judged)}; {len(names)} measures"
        table = Table(title, settings)
        sides = data.dicts(data.of_settings(settings, judged))
        small_sides = data.dicts(data.small_problem(settings, judged))
        key = f"dicts, {judged} judged"
        works: dict[str, Callable[[], Any]] = {
            "": lambda sides=sides: irbatch.evaluate(*sides, names).mean()
        }
        missing = {peer.name: absence(peer.module, peer.package) for peer in PEERS}
        for peer in PEERS:
            if not missing[peer.name]:
                peer.evaluate(*small_sides, names)
                works[peer.name] = partial(peer.evaluate, *sides, names)
        timed = in_turn(works, settings.rounds)
        for peer in PEERS:
            theirs = missing[peer.name] or timed[peer.name].becomes(
                lambda found, peer=peer: peer.means(found, names)
            )
            row = f"{key}, {peer.module}"
            table.compare("dicts to means", timed[""], peer.name, theirs, key=row)
        _prepared(table, f"{key}, prepared, ranx", sides, names)
        yield table


def _prepared(table: Table, key: str, sides: Sides, names: list[str]) -> None:
    """Time evaluation alone, of what either tool keeps between evaluations."""
    ours = irbatch.Qrels(sides[0]), irbatch.Run(sides[1]).prepared()
    missing, work = absence(RANX.module), None
    if not missing:
        ranx = importlib.import_module("ranx")
        theirs = ranx.Qrels(sides[0]), ranx.Run(sides[1])
        work = lambda: RANX.means(ranx_values(*theirs, names), names)  # noqa: E731
    table.race("prepared, to means", lambda: irbatch.evaluate(*ours, names).mean(),
               {"ranx, prepared": (missing, work, key)})  # fmt: skip


# ---------------------------------------------------------------- pytrec_eval's interface


def _flat(nested: Nested) -> dict[str, float]:
    """Return a value for each pair of keys."""
    return {
        f"{query} {name}": value for query, row in nested.items() for name, value in row.items()
    }


# What is taken of the seconds of all calls.
FIGURES: dict[str, Callable[[list[float]], float]] = {
    "first call": lambda spent: spent[0],
    "later calls": lambda spent: statistics.median(spent[1:]),
}


def small(settings: Settings) -> Iterator[Table]:
    """Collections of the usual size in new processes, from the first call on: processor time."""
    irbatch.runtime.warmup()
    calls, rounds, judged = (3, 1, 50) if settings.quick else (30, settings.rounds + 2, 50)
    title = f"pytrec_eval's interface in new processes, {calls} calls, {judged} judged a query; CPU"
    table = Table(title, settings)
    missing = absence(PYTREC_EVAL.module, PYTREC_EVAL.package)
    modules = [OURS] if missing else [OURS, PYTREC_EVAL.module]
    later: dict[bool, Timed] = {}
    for queries, depth, measures, tied, _ in SMALL:
        sizes = map(str, (queries, depth, judged, measures, calls, int(tied)))
        words, command = ["-m", "benchmarks.tools", "calls"], [*sizes]
        works = {each: partial(json_of, [*words, each, *command]) for each in modules}
        found = rounds_of(works, rounds)
        for name, figure in FIGURES.items():
            timed = {
                module: Timed(_flat(each[0]["values"]), tuple(figure(e["spent"]) for e in each))
                for module, each in found.items()
            }
            work = f"{queries} × {depth:,}{', tied' * tied}, {measures} measures, {name}"
            key = f"{small_key(queries, depth, measures, tied)}, {name}"
            theirs = missing or timed[PYTREC_EVAL.module]
            table.compare(work, timed[OURS], PYTREC_EVAL.name, theirs, key=key)
        if (queries, depth, measures) == SMALL[1][:3]:
            later[tied] = timed[OURS]
    table.measure_by("tied, later calls", later[True], "not tied", later[False], key="small, ties")
    yield table


# ---------------------------------------------------------------- frames


def frames(settings: Settings) -> Iterator[Table]:
    """Frames, a row a document, of a fifth of the queries: peers make rows of pandas' frames."""
    judged, queries = USUAL, max(20, settings.queries // 5)
    rows = queries * settings.depth
    title = f"frames of {rows:,} rows, {judged} judged a query; frames to means"
    table = Table(title, settings)
    whole = data.columns(data.of_settings(settings, judged, queries))
    few = data.columns(data.small_problem(settings, judged))
    names = usual(settings.depth)
    irbatch.runtime.warmup()
    for kind, (module, make, peers) in FRAMES.items():
        if missing := absence(module):
            for key in peers or [""]:
                table.add(f"{kind} frames", "", "", "", "", f"skipped: {missing}", key=key)
            continue
        given = make(whole)
        for key, (peer, theirs, module, asked) in peers.items():
            asked = asked or names
            missing = absence(module)
            work = None if missing else theirs(given, asked)
            if not missing:
                theirs(make(few), asked)()
            table.race(f"{kind}, {len(asked)} measures", partial(_means, given, asked),
                       {peer: (missing, work, key)})  # fmt: skip
    yield table


def _means(sides: Sides, names: list[str]) -> dict[str, float]:
    return irbatch.evaluate(*sides, names).mean()


def _pandas(sides: Any) -> Sides:
    pandas = importlib.import_module("pandas")
    return pandas.DataFrame(sides[0]), pandas.DataFrame(sides[1])


def _polars(sides: Any) -> Sides:
    polars = importlib.import_module("polars")
    made = [{name: list(each) if each.dtype == object else each for name, each in side.items()}
            for side in sides]  # fmt: skip
    return polars.DataFrame(made[0]), polars.DataFrame(made[1])


def _by_ir_measures(sides: Sides, names: list[str]) -> Callable[[], dict[str, float]]:
    return lambda: IR_MEASURES.means(IR_MEASURES.evaluate(*sides, names), names)


def _by_polars(sides: Sides, names: list[str]) -> Callable[[], dict[str, float]]:
    return lambda: polars_values(*(side.lazy() for side in sides))


FRAMES: dict[str, tuple[str, Callable[[Any], Sides], dict[str, tuple[Any, ...]]]] = {
    "pandas": ("pandas", _pandas, {
        "frames, ir_measures": ("ir_measures", _by_ir_measures, "ir_measures", None),
    }),
    "polars": ("polars", _polars, {
        "frames, polars": ("polars expressions", _by_polars, "polars", list(IN_QUERIES)),
    }),
}  # fmt: skip


# ---------------------------------------------------------------- lists of ids

MEASURES = "nDCG@10 R@100 RR P@10"


def ids(settings: Settings) -> Iterator[Table]:
    """Matrices of whole-number ids, against copying them, the least that reading them can cost."""
    queries, depth, relevant = (500, 100, 20) if settings.quick else (50_000, 1_000, 20)
    problem = data.make_problem(queries, depth, relevant)
    ranked, judged = np.ascontiguousarray(problem.documents), problem.judged
    irbatch.runtime.warmup()
    title = f"matrices of int64 ids: {queries:,} × {depth:,}, {relevant} relevant each; {MEASURES}"
    table = Table(title, settings)
    works = {"": lambda: irbatch.evaluate_ids(ranked, judged, MEASURES), "copy": ranked.copy}
    timed = in_turn(works, settings.rounds, patience=math.inf)
    work = f"{queries:,} queries"
    table.measure_by(work, timed[""], "ranked.copy()", timed["copy"], key="ids, copy")
    yield table


# ---------------------------------------------------------------- diversity

THEIRS, DIVERSE = "alpha-nDCG@20", "alpha_nDCG@20"


def diversity(settings: Settings) -> Iterator[Table]:
    """Collections of the size that TREC's Web tracks had, of what is prepared."""
    topics, judged, subtopics = (6, 20, 4) if settings.quick else (50, 300, 4)
    irbatch.runtime.warmup()
    for whole in (1_000, 10_000):
        depth = whole // 25 if settings.quick else whole
        title = f"{DIVERSE}: {topics} queries × {depth:,}, {judged} documents judged by {subtopics}"
        table = Table(f"{title} subtopics", settings)
        relevant, run = data.dicts(data.make_problem(topics, depth, judged))
        rng = np.random.default_rng(2)
        nested = {
            query: {str(subtopic): {each: int(rng.random() < 0.2) for each in documents}
                    for subtopic in range(1, subtopics + 1)}
            for query, documents in relevant.items()
        }  # fmt: skip
        qrels, prepared = irbatch.Qrels(nested, marks="subtopics"), irbatch.Run(run).prepared()
        missing = absence("pyndeval")
        theirs = None if missing else _by_pyndeval(nested, run)
        for work, key, sides in (
            ("judgments prepared", "judgments", (qrels, run)),
            ("run prepared, too", "prepared", (qrels, prepared)),
        ):
            table.race(
                work, lambda sides=sides: irbatch.evaluate(*sides, DIVERSE).per_query(DIVERSE),
                {"pyndeval, of judgments prepared":
                 (missing, theirs, f"diversity, {whole}, {key}")},
                rounds=2 * settings.rounds + 1,
            )  # fmt: skip
        yield table


def _by_pyndeval(nested: Any, run: Nested) -> Callable[[], Any]:
    """Return what pyndeval does of judgments that it has prepared."""
    pyndeval = importlib.import_module("pyndeval")
    judged = [
        pyndeval.SubtopicQrel(query, subtopic, document, grade)
        for query, some in nested.items()
        for subtopic, documents in some.items()
        for document, grade in documents.items()
    ]
    scored = [
        pyndeval.ScoredDoc(query, document, score)
        for query, documents in run.items()
        for document, score in documents.items()
    ]
    evaluator = pyndeval.RelevanceEvaluator(judged, [THEIRS])
    return lambda: {query: each[THEIRS] for query, each in evaluator.evaluate(scored).items()}


# ---------------------------------------------------------------- comparing systems

SYSTEMS = 9


def comparing(settings: Settings) -> Iterator[Table]:
    """Sign flips against one matrix product of that size, and SciPy's."""
    queries, draws = (200, 500) if settings.quick else (6_980, 10_000)
    random = np.random.default_rng(0)
    differences = random.normal(0.01, 0.3, (queries, len(TWENTY) * SYSTEMS))
    signs = random.choice([-1.0, 1.0], (draws, queries))
    title = f"comparing systems: {draws:,} sign flips × {queries:,} queries; {SYSTEMS} systems"
    table = Table(f"{title} against a baseline, {len(TWENTY)} measures", settings)
    flip_signs(differences[:, :1], 300, 0)  # compiles
    works = {"": lambda: flip_signs(differences, draws, 0), "product": lambda: signs @ differences}
    timed = in_turn(works, settings.rounds, patience=math.inf)
    standard = "the product", timed["product"]
    table.measure_by("sign flips", timed[""], *standard, key="comparing, flips")
    _by_scipy(table, differences[:, 0].copy(), draws)
    sides = data.dicts(data.of_settings(settings, USUAL, max(20, settings.queries // 5)))
    qrels, run = irbatch.Qrels(sides[0]), irbatch.Run(sides[1]).prepared()
    other = {query: {document: -score for document, score in ranking.items()}
             for query, ranking in sides[1].items()}  # fmt: skip
    works = {
        "": partial(overlap, run, irbatch.Run(other).prepared()),
        "one": partial(irbatch.evaluate, qrels, run, "nDCG"),
    }
    timed = in_turn(works, settings.rounds)
    table.measure_by("RBO of two prepared runs", timed[""], "nDCG of one", timed["one"],
                     key="comparing, rbo")  # fmt: skip
    yield table


def _by_scipy(table: Table, differences: npt.NDArray[Any], draws: int) -> None:
    """Compare one pair; p-values of different draws agree within their spread."""
    work, peer, key = "one pair, sign flips", "scipy.stats.permutation_test", "comparing, scipy"
    if missing := absence("scipy"):
        table.add(work, "", peer, "", "", f"skipped: {missing}", key=key)
        return
    from scipy.stats import permutation_test

    def theirs() -> float:
        found = permutation_test(
            (differences,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
            n_resamples=draws, batch=256, rng=np.random.default_rng(0),
        )  # fmt: skip
        return float(found.pvalue)

    def ours() -> float:
        return float((flip_signs(differences[:, None], draws, 0)[0] + 1) / (draws + 1))

    timed = in_turn({"ours": ours, "scipy": theirs}, table.settings.rounds)
    mine, other = timed["ours"], timed["scipy"]
    spread = 5 * math.sqrt(max(mine.result * (1 - mine.result), 1e-3) * 2 / draws)
    agreed = abs(mine.result - other.result) <= spread
    text = f"p {mine.result:.4f} and {other.result:.4f}, of other draws"
    ratio = other.times_as_long_as(mine)
    table.judge(work, mine, peer, other, (agreed, text), multiple(ratio), ratio, key)
