"""Other tools, each called as its own manual says; and one on files in a process of its own.

``python -m benchmarks.tools TOOL FILES… NAMES…`` prints JSON: seconds, values, and the most memory
that the process, or the program it started, ever had resident. Nothing is imported but what the
tool itself needs. ``python -m benchmarks.tools calls MODULE Q D J M CALLS TIED`` prints the
processor time of each call of an evaluator with pytrec_eval's interface: Q queries of D documents,
J judged; TIED is 1 where scores tie.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

TREC_EVAL = "IRBATCH_TREC_EVAL"

# ---------------------------------------------------------------- what measures are called

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# What a query engine computes in a page of expressions (see below).
IN_QUERIES = ("AP", "RR", "P@10", "nDCG@10")
TWENTY = (
    "AP", "RR", "nDCG@10", "nDCG@100", "nDCG", "P@5", "P@10", "P@100", "R@10", "R@100", "R@1000",
    "Success@1", "Success@10", "Rprec", "Bpref", "IPrecAvg", "InfAP", "RBP", "F@10", "DCG@10",
)  # fmt: skip

TREC_FAMILIES = {"AP": "map", "RR": "recip_rank", "nDCG": "ndcg_cut", "P": "P", "R": "recall"}
RANX_FAMILIES = {"AP": "map", "RR": "mrr", "nDCG": "ndcg", "P": "precision", "R": "recall"}


def usual(depth: int) -> list[str]:
    """Return AP, RR, and nDCG, P, R at nine cutoffs, those within the depth.

    Beyond the end of a ranking the tools' definitions part.
    """
    cutoffs = [k for k in CUTOFFS if k <= depth]
    return ["AP", "RR", *(f"{name}@{k}" for name in ("nDCG", "P", "R") for k in cutoffs)]


def trec_names(names: list[str], joint: str) -> dict[str, str]:
    """Map trec_eval's spelling to each name; `joint` is "." in requests, "_" in output."""
    return {_respelled(name, TREC_FAMILIES, joint): name for name in names}


def trec_options(names: list[str]) -> list[str]:
    """Return the options that ask trec_eval for measures, all cutoffs of one together."""
    wishes: dict[str, list[str]] = {}
    for name in trec_names(names, "."):
        family, _, cutoff = name.partition(".")
        wishes.setdefault(family, []).extend([cutoff] if cutoff else [])
    joined = (f"{each}.{','.join(ks)}" if ks else each for each, ks in wishes.items())
    return [word for each in joined for word in ("-m", each)]


def ranx_names(names: list[str]) -> dict[str, str]:
    """Map ranx's spelling to each name."""
    return {_respelled(name, RANX_FAMILIES, "@"): name for name in names}


def ir_measures_objects(names: list[str]) -> dict[Any, str]:
    """Map ir_measures' objects to each name."""
    package = importlib.import_module("ir_measures")
    objects = {}
    for name in names:
        family, _, cutoff = name.partition("@")
        kind = getattr(package, family)
        objects[kind @ int(cutoff) if cutoff else kind] = name
    return objects


def _respelled(name: str, families: dict[str, str], joint: str) -> str:
    family, _, cutoff = name.partition("@")
    return families[family] + (joint + cutoff if cutoff else "")


# ---------------------------------------------------------------- in memory

Values = dict[str, float]
Matrix = Any  # an array: NumPy is for those who need it
Work = Callable[[], Values]

TORCHMETRICS = {"AP": "RetrievalMAP", "RR": "RetrievalMRR", "nDCG": "RetrievalNormalizedDCG",
                "R": "RetrievalRecall"}  # fmt: skip


@dataclass(frozen=True)
class Peer:
    """A tool to compare with.

    Attributes:
        name: what it is called.
        module, package: what is imported, and what is installed.
        evaluate: ``(qrels, run, names)`` to what the tool returns.
        means: that and the names, to name and mean; not timed.
    """

    name: str
    module: str
    package: str
    evaluate: Callable[[Any, Any, list[str]], Any]
    means: Callable[[Any, list[str]], Values]


def means_by_query(found: dict[str, dict[str, float]], names: list[str]) -> Values:
    """Average pytrec_eval's values, which it leaves to its callers."""
    spelled = trec_names(names, "_")
    return {
        name: sum(values[theirs] for values in found.values()) / len(found)
        for theirs, name in spelled.items()
    }


def _pytrec_eval(qrels: Any, run: Any, names: list[str]) -> Any:
    pytrec_eval = importlib.import_module("pytrec_eval")
    return pytrec_eval.RelevanceEvaluator(qrels, set(trec_names(names, "."))).evaluate(run)


def _ir_measures(qrels: Any, run: Any, names: list[str]) -> Any:
    package = importlib.import_module("ir_measures")
    return package.calc_aggregate(list(ir_measures_objects(names)), qrels, run)


def _by_object(found: Any, names: list[str]) -> Values:
    return {name: float(found[theirs]) for theirs, name in ir_measures_objects(names).items()}


def ranx_values(qrels: Any, run: Any, names: list[str]) -> Any:
    """Evaluate what ranx has prepared, on all threads."""
    ranx = importlib.import_module("ranx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Numba's, of casts in ranx
        return ranx.evaluate(qrels, run, list(ranx_names(names)), make_comparable=False)


def _ranx(qrels: Any, run: Any, names: list[str]) -> Any:
    ranx = importlib.import_module("ranx")
    return ranx_values(ranx.Qrels(qrels), ranx.Run(run), names)


def _by_ranx_name(found: Any, names: list[str]) -> Values:
    return {name: float(found[theirs]) for theirs, name in ranx_names(names).items()}


PYTREC_EVAL = Peer(
    "pytrec_eval", "pytrec_eval", "pytrec_eval-terrier", _pytrec_eval, means_by_query
)
IR_MEASURES = Peer("ir_measures", "ir_measures", "ir_measures", _ir_measures, _by_object)
RANX = Peer("ranx, from dicts", "ranx", "ranx", _ranx, _by_ranx_name)
PEERS = (PYTREC_EVAL, IR_MEASURES, RANX)


def torchmetrics_work(scores: Matrix, labels: Matrix, names: list[str]) -> Work:
    """Return what torchmetrics does for a batch, from tensors: update and compute."""
    np, torch, package = map(importlib.import_module, ("numpy", "torch", "torchmetrics"))
    metrics = {}
    for name in names:
        family, _, cutoff = name.partition("@")
        kind = getattr(package.retrieval, TORCHMETRICS[family])
        metrics[name] = kind(top_k=int(cutoff)) if cutoff else kind()
    collection = package.MetricCollection(metrics)
    rows = np.repeat(np.arange(len(scores))[:, None], scores.shape[1], axis=1)
    batch = [torch.from_numpy(each) for each in (scores, labels.astype(np.int64), rows)]

    def work() -> Values:
        collection.reset()
        collection.update(batch[0], batch[1], indexes=batch[2])
        return {name: float(value) for name, value in collection.compute().items()}

    return work


# ---------------------------------------------------------------- in a page of expressions


def polars(qrels: Path, run: Path, _: list[str]) -> Values:
    """Evaluate TREC files by expressions; columns that aren't needed are never parsed."""
    import polars as pl

    text = {"query_id": pl.String, "q0": pl.String, "doc_id": pl.String}
    reading: dict[str, Any] = {"separator": " ", "has_header": False, "quote_char": None}
    judged = pl.scan_csv(qrels, schema={**text, "relevance": pl.Int32}, **reading)
    ranked = pl.scan_csv(
        run, schema={**text, "rank": pl.Int32, "score": pl.Float64, "tag": pl.String}, **reading
    )
    return polars_values(judged, ranked.select("query_id", "doc_id", "score"))


def polars_values(qrels: Any, run: Any) -> Values:
    """Evaluate lazy frames with ir_measures' column names."""
    import polars as pl

    query, rank, gain, place = map(pl.col, ("query_id", "rank", "relevance", "place"))
    relevant = qrels.filter(gain > 0)
    places = relevant.with_columns(place=gain.rank("ordinal", descending=True).over(query))
    ideals = places.group_by(query).agg(
        relevant=pl.len(), ideal=(gain / (place + 1).log(2)).filter(place <= 10).sum()
    )
    hits = (
        run.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over(query))
        .join(relevant, on=["query_id", "doc_id"])
        .with_columns(hit=rank.rank("ordinal").over(query))
    )
    found = hits.group_by(query).agg(
        ap=(pl.col("hit") / rank).sum(),
        rr=1 / rank.min(),
        p=(rank <= 10).sum() / 10,
        dcg=(gain / (rank + 1).log(2)).filter(rank <= 10).sum(),
    )
    everything = (
        qrels.select(query).unique().join(ideals, on=query, how="left").join(found, on=query,
                                                                             how="left")
    )  # fmt: skip
    means = {
        "AP": pl.col("ap") / pl.col("relevant"),
        "RR": pl.col("rr"),
        "P@10": pl.col("p"),
        "nDCG@10": pl.col("dcg") / pl.col("ideal"),
    }
    wanted = [each.fill_null(0).mean().alias(name) for name, each in means.items()]
    return everything.select(wanted).collect().row(0, named=True)


# ---------------------------------------------------------------- on files, in a process of its own


def trec_eval_program() -> str | None:
    """Return the path of trec_eval's program: what the environment names, or what is on PATH."""
    return os.environ.get(TREC_EVAL) or shutil.which("trec_eval")


def irbatch(qrels: Path, run: Path, names: list[str]) -> Values:
    """Hand over paths."""
    import irbatch

    return irbatch.evaluate(qrels, run, names).mean()


def pytrec_eval(qrels: Path, run: Path, names: list[str]) -> Values:
    """Read with its own functions."""
    from pytrec_eval import parse_qrel, parse_run

    with qrels.open() as judgments, run.open() as rankings:
        sides = parse_qrel(judgments), parse_run(rankings)
    return PYTREC_EVAL.means(PYTREC_EVAL.evaluate(*sides, names), names)


def ir_measures(qrels: Path, run: Path, names: list[str]) -> Values:
    """Read with its own functions."""
    from ir_measures import read_trec_qrels, read_trec_run

    sides = read_trec_qrels(str(qrels)), read_trec_run(str(run))
    return IR_MEASURES.means(IR_MEASURES.evaluate(*sides, names), names)


def trec_eval(qrels: Path, run: Path, names: list[str]) -> Values:
    """Start its program, and average what it prints of queries.

    Its own means have four digits after the point.
    """
    command = [trec_eval_program() or "trec_eval", "-q", *trec_options(names)]
    command += [str(qrels), str(run)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    spelled = trec_names(names, "_")
    sums, counts = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)
    for theirs, query, value in re.findall(r"^(\S+)\s+(\S+)\s+(\S+)$", printed, re.MULTILINE):
        if query != "all" and theirs in spelled:
            sums[spelled[theirs]] += float(value)
            counts[spelled[theirs]] += 1
    return {name: sums[name] / counts[name] for name in names}


FILE_TOOLS: dict[str, Callable[[Path, Path, list[str]], Values]] = {
    each.__name__: each for each in (irbatch, pytrec_eval, ir_measures, trec_eval, polars)
}


def warm_up(name: str, qrels: Path, run: Path, names: list[str]) -> None:
    """Evaluate small files, and have irbatch load what it compiles for larger ones only."""
    FILE_TOOLS[name](qrels, run, names)
    if name == "irbatch":
        import irbatch

        irbatch.runtime.warmup()


def peak_memory(*, children: bool) -> int:
    """Return the most bytes ever resident.

    Linux carries ru_maxrss over from the process that started this one, so its own high-water
    mark comes first.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    if children:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


TIED = 46_000  # steps of scores in a group of ties: some 23 documents, as half precision has them


def call_again(
    module: str, queries: int, depth: int, judged: int, number: int, calls: int, tied: int
) -> None:
    """Call an evaluator again and again, and print what each call took."""
    from benchmarks.data import dicts, make_problem

    evaluators = importlib.import_module(module)
    problem = make_problem(queries, depth, judged)
    qrels, run = dicts(replace(problem, scores=problem.scores // TIED) if tied else problem)
    four = ["map", "ndcg_cut.10", "recip_rank", "P.10"]
    names = set(four[:number] if number <= len(four) else evaluators.supported_measures)
    spent = []
    for _ in range(calls):
        start = time.process_time()
        values = evaluators.RelevanceEvaluator(qrels, names).evaluate(run)
        spent.append(time.process_time() - start)
    print(json.dumps({"spent": spent, "values": values}))


def main(arguments: list[str]) -> None:
    """Warm up, time one evaluation, print."""
    if arguments[0] == "calls":
        call_again(arguments[1], *map(int, arguments[2:]))
        return
    name, *paths = arguments[:5]
    qrels, run, small_qrels, small_run = map(Path, paths)
    names = arguments[5:]
    warm_up(name, small_qrels, small_run, names)
    start = time.perf_counter()
    values = FILE_TOOLS[name](qrels, run, names)
    seconds = time.perf_counter() - start
    peak = peak_memory(children=name == "trec_eval")
    print(json.dumps({"seconds": seconds, "values": values, "peak": peak}))


if __name__ == "__main__":
    main(sys.argv[1:])
