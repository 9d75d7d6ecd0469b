"""The public entrances: each makes its containers of a problem, then evaluates them.

What a container cannot hold (a judgment twice in a dictionary, text in a column of numbers) its
own library refuses, or gives back changed: such a problem is none of this entrance.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.file_readers import piped_input, use_reader

import irbatch
from bad_input.problem import MEAN, Found, Problem, Triple
from irbatch import BatchEvaluator, Qrels, Run
from irbatch.cli import main
from irbatch.errors import warn
from irbatch.integrations import beir, pytrec_eval
from irbatch.partial import evaluate_partition, merge_partials

Columns = dict[str, Any]
Dicts = tuple[dict[Any, dict[Any, Any]], dict[Any, dict[Any, Any]]]
Pack = Callable[[bytes], bytes]
QRELS_NAMES = ("query_id", "doc_id", "relevance")
RUN_NAMES = ("query_id", "doc_id", "score")
NO_ROWS = [np.array([], "U1"), np.array([], "U1"), np.array([], float)]
MATRIX, SCORES, IDS = frozenset({"matrix"}), frozenset({"scores"}), frozenset({"ids"})
# What measures are called on trec_eval's command line.
TREC = {
    "RR": "recip_rank", "AP": "map", "nDCG": "ndcg", "Bpref": "bpref", "P@1": "P.1", "P@2": "P.2",
    "P@5": "P.5", "R@5": "recall.5", "P@0": "P.0", "P@-1": "P.-1", "P@abc": "P.abc", "nDGC": "nDGC",
}  # fmt: skip


class InexpressibleError(Exception):
    """A problem that an entrance cannot be given."""


class CommandError(Exception):
    """What a command printed when it rejected something."""


@dataclass(frozen=True)
class Entrance:
    """A way into the library.

    Attributes:
        make: a problem, and a folder for files, to containers.
        take: the containers and the problem to values.
        place: how its errors say where: by ``"ids"``, ``"row"``, ``"line"``, ``"query"``, or not.
        traits: what rows of the table may call a group of entrances by.
        lacks: ``"ids"`` of documents, or ``"scores"``.
        compared: what it compares scores as.
        expected: whether it takes the mean over orders of tied documents.
        digits: after the point, where it rounds.
    """

    make: Callable[[Problem, Path], Iterable[Any]]
    take: Callable[..., Found]
    place: str = "ids"
    traits: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    compared: Callable[[Any], Any] = float
    expected: bool = False
    digits: int | None = None


def require(true: bool) -> None:
    if not true:
        raise InexpressibleError


def per_query(results: irbatch.Results, queries: list[Any] | None = None) -> Found:
    """Return values by measure and query; of queries that have no ids, under the names given."""
    names = results.query_ids if queries is None else queries
    return {
        name: dict(zip(names, values, strict=True))
        for name, values in zip(results.measures, results.values.T.tolist(), strict=True)
    }


def evaluated(qrels: Any, run: Any, problem: Problem) -> Found:
    return per_query(irbatch.evaluate(qrels, run, list(problem.measures)))


# ---------------------------------------------------------------- dictionaries


def by_query(triples: Iterable[Triple], empty: Iterable[Any]) -> dict[Any, dict[Any, Any]]:
    made: dict[Any, dict[Any, Any]] = {query: {} for query in empty}
    for query, document, number in triples:
        require(document not in made.setdefault(query, {}))
        made[query][document] = number
    return made


def dicts(problem: Problem, _: Path | None = None) -> Dicts:
    require(problem.qrels_file is None is problem.run_file)
    return (
        by_query(problem.judged, problem.judged_empty),
        by_query(problem.ranked, problem.ranked_empty),
    )


def of_several(qrels: Any, run: Any, problem: Problem) -> Found:
    return per_query(irbatch.evaluate_runs(qrels, {"a": run}, list(problem.measures))["a"])


def compared(qrels: Any, run: Any, problem: Problem) -> Found:
    same = {query: dict(each) for query, each in run.items()} if isinstance(run, dict) else run
    found = irbatch.compare(qrels, {"a": run, "b": same}, list(problem.measures), draws=50)
    values = dict(zip(found.measures, found.values[0].T.tolist(), strict=True))
    return {name: dict(zip(found.query_ids, each, strict=True)) for name, each in values.items()}


def on_a_board(qrels: Any, run: Any, problem: Problem) -> Found:
    found = irbatch.evaluate_runs(qrels, {"mine": run}, list(problem.measures))
    board = irbatch.Leaderboard(found, [irbatch.EfficiencyRecord(system="mine")])
    return {name: {MEAN: float(board.values(name)[0])} for name in board.measures}


def by_id_mappings(qrels: Any, run: Any, problem: Problem) -> Found:
    ranked = {query: problem.ordered(query) for query in run}
    return per_query(irbatch.evaluate_ids(ranked, qrels, list(problem.measures)))


def added_up(qrels: Any, run: Any, problem: Problem) -> Found:
    """Evaluate query by query, and add the results up."""
    require(bool(qrels) and qrels.keys() <= run.keys())
    parts = [
        evaluate_partition({query: qrels[query]}, {query: run[query]}, list(problem.measures),
                           apart=True)
        for query in qrels
    ]  # fmt: skip
    return per_query(merge_partials(parts).results())


def trec_names(problem: Problem) -> dict[str, str]:
    """Map trec_eval's names of the measures, which it must have, to ours."""
    require(all(name in TREC for name in problem.measures))
    return {TREC[name]: name for name in problem.measures}


def by_pytrec_eval(qrels: Any, run: Any, problem: Problem) -> Found:
    names = trec_names(problem)
    values = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(run)
    return {own: {query: row[name.replace(".", "_")] for query, row in values.items()}
            for name, own in names.items()}  # fmt: skip


def by_ir_measures(qrels: Any, run: Any, problem: Problem) -> Found:
    import ir_measures

    from irbatch.integrations.ir_measures import IrbatchProvider

    try:
        names = {ir_measures.parse_measure(name): name for name in problem.measures}
    except Exception as unknown:
        raise InexpressibleError from unknown
    found: Found = {name: {} for name in names.values()}
    for metric in IrbatchProvider().iter_calc(list(names), qrels, run):
        found[names[metric.measure]][metric.query_id] = metric.value
    return found


def by_beir(qrels: Any, run: Any, problem: Problem) -> Found:
    places = {name: at for at, name in enumerate(("nDCG", "AP")) if name in problem.measures}
    require(bool(places))
    families = beir.evaluate(qrels, run, [1000])
    return {name: {MEAN: next(iter(families[at].values()))} for name, at in places.items()}


# ---------------------------------------------------------------- columns and tables


def column(cells: list[Any]) -> Any:
    """Write cells as an array where all are NumPy's numbers of one type, else as a list."""
    kinds = {type(cell) for cell in cells}
    return np.array(cells) if len(kinds) == 1 and issubclass(*kinds, np.generic) else cells


def columns(problem: Problem) -> tuple[Columns, Columns]:
    require(problem.qrels_file is None is problem.run_file)
    require(not problem.judged_empty and not problem.ranked_empty)
    sides = []
    for names, triples in ((QRELS_NAMES, problem.judged), (RUN_NAMES, problem.ranked)):
        cells = [column(list(each)) for each in zip(*triples, strict=True)] or NO_ROWS
        sides.append(dict(zip(names, cells, strict=True)))
    return sides[0], sides[1]


def kept(cells: Any, written: Any) -> Any:
    """Return a column as a library holds it, if these are the cells that were written into it."""
    read = cells.to_pylist() if hasattr(cells, "to_pylist") else cells.tolist()
    for cell, own in zip(read, written, strict=True):
        lost = cell is None or cell != cell
        require((own is None or own != own) if lost else cell == own)
    return cells


def from_columns(judged: Columns, ranked: Columns, problem: Problem) -> Found:
    sides = Qrels.from_columns(*judged.values()), Run.from_columns(*ranked.values())
    return evaluated(*sides, problem)


def from_mappings(judged: Columns, ranked: Columns, problem: Problem) -> Found:
    return evaluated(Qrels.from_table(judged), Run.from_table(ranked), problem)


def from_sparse(judged: Columns, ranked: Columns, problem: Problem) -> Found:
    return evaluated(Qrels.from_sparse(**judged), Run.from_sparse(**ranked), problem)


def records(side: Columns) -> Any:
    if not any(side.values()):
        return dict(side)  # no records have no fields
    return [SimpleNamespace(**dict(zip(side, row, strict=True)))
            for row in zip(*side.values(), strict=True)]  # fmt: skip


def arrays(side: Columns) -> Columns:
    return {name: kept(np.asarray(cells), cells) for name, cells in side.items()}


def structured(side: Columns) -> Any:
    parts = arrays(side)
    table = np.empty(len(next(iter(parts.values()))), [(n, p.dtype) for n, p in parts.items()])
    for name, part in parts.items():
        table[name] = part
    return table


def sparse(side: Columns) -> Columns:
    from scipy.sparse import coo_array

    queries, documents, cells = map(list, side.values())
    rows, places = list(dict.fromkeys(queries)), list(dict.fromkeys(documents))
    require(len({*zip(queries, documents, strict=True)}) == len(cells))
    at = [rows.index(q) for q in queries], [places.index(d) for d in documents]
    matrix = coo_array((kept(np.array(cells), cells), at), shape=(len(rows), len(places)))
    return {"matrix": matrix, "query_ids": rows, "document_ids": places}


def pandas_frame(side: Columns) -> Any:
    import pandas as pd

    frame = pd.DataFrame(side)
    for name in side:
        kept(frame[name], side[name])
    return frame


def polars_frame(side: Columns) -> Any:
    import polars as pl

    # Whole numbers among others are no numbers to it.
    mixed = {name for name, cells in side.items() if set(map(type, cells)) == {int, float}}
    return pl.DataFrame(side | {name: np.array(side[name]) for name in mixed})


def lazy_frame(side: Columns) -> Any:
    return polars_frame(side).lazy()


def arrow_table(side: Columns) -> Any:
    import pyarrow as pa

    return pa.table(side)


# ---------------------------------------------------------------- lists, labels and scores


def by_id_lists(qrels: Any, run: Any, problem: Problem) -> Found:
    queries = problem.queries()
    require({*queries} == run.keys())
    ranked = [problem.ordered(query) for query in queries]
    judged = [qrels[query] for query in queries]
    return per_query(irbatch.evaluate_ids(ranked, judged, list(problem.measures)), queries)


def updated_with_ids(qrels: Any, run: Any, problem: Problem) -> Found:
    require(qrels.keys() == run.keys())
    evaluator = BatchEvaluator(list(problem.measures))
    for query in problem.queries():
        evaluator.update_ids([problem.ordered(query)], [qrels[query]], query_ids=[query])
    return per_query(evaluator.compute())  # type: ignore[arg-type]


def updated_with_columns(qrels: Any, run: Any, problem: Problem) -> Found:
    """Update document by document, the last ones first."""
    require(bool(qrels) and qrels.keys() == run.keys() and all(qrels.values()))
    require(all(qrels[query].keys() <= run[query].keys() for query in qrels))
    evaluator = BatchEvaluator(list(problem.measures))
    for query, document, score in reversed(problem.ranked):
        grade = qrels[query].get(document, 0)
        evaluator.update_columns([query], [document], [score], [grade])
    return per_query(evaluator.compute())  # type: ignore[arg-type]


class Matrices:
    """Scores and labels of the queries of the judgments, row by row.

    Documents stand as they do in the problem, or, of what is `in_order`, best first.
    """

    def __init__(self, problem: Problem, *, in_order: bool = False) -> None:
        dicts(problem)
        self.queries = problem.queries()
        require({*self.queries} == {q for q, _, _ in problem.ranked} and bool(self.queries))
        rankings = {query: dict(problem.ranking(query)) for query in self.queries}
        if in_order:
            rankings = {q: {d: rankings[q][d] for d in problem.ordered(q)} for q in self.queries}
        self.documents = [list(rankings[q]) for q in self.queries]
        self.scores = [list(rankings[q].values()) for q in self.queries]
        self.judged = [list(problem.grades(q).values()) for q in self.queries]
        self.labels = [[problem.grades(q).get(d, 0) for d in rankings[q]] for q in self.queries]
        self.relevant = [sum(1 for grade in row if grade) for row in self.judged]
        ranked = {(q, d) for q, d, _ in problem.ranked}
        missing = {(q, d) for q, d, _ in problem.judged} - ranked
        self.more: dict[str, Any] = {"n_relevant": self.relevant} if missing else {}
        self.lengths = [len(row) for row in self.scores]

    def array(self, rows: list[list[Any]]) -> Any:
        width = max(self.lengths)
        cells = [cell for row in rows for cell in (*row, *[0] * (width - len(row)))]
        flat = kept(np.array(cells), cells)
        require(flat.dtype.kind != "O")
        return flat.reshape(len(rows), width)

    def ids(self) -> list[list[Any]]:
        return [[*row, *(f"none{i}" for i in range(max(self.lengths) - len(row)))]
                for row in self.documents]  # fmt: skip


def labels_in_order(as_lists: bool, problem: Problem, _: Path) -> tuple[Any, Any]:
    parts = Matrices(problem, in_order=True)
    return parts, parts.labels if as_lists else parts.array(parts.labels)


def by_labels(parts: Matrices, labels: Any, problem: Problem) -> Found:
    more: dict[str, Any] = {} if isinstance(labels, list) else {"lengths": parts.lengths}
    results = irbatch.evaluate_matrix(labels, list(problem.measures), judged=parts.judged, **more)
    return per_query(results, parts.queries)


def candidates(problem: Problem, _: Path) -> tuple[Any, Any, Any]:
    parts = Matrices(problem)
    return parts, parts.array(parts.scores), parts.array(parts.labels)


def candidates_and_ids(problem: Problem, folder: Path) -> tuple[Any, ...]:
    parts, *arrays = candidates(problem, folder)
    parts.more |= {"ties": "id", "document_ids": parts.ids()}
    return parts, *arrays


def candidates_in_lists(problem: Problem, folder: Path) -> tuple[Any, ...]:
    parts, scores, labels = candidates(problem, folder)
    return parts, scores.tolist(), labels.tolist()


def candidates_and_positives(problem: Problem, folder: Path) -> tuple[Any, ...]:
    parts, scores, _ = candidates(problem, folder)
    require(all(type(cell) is int and cell in (0, 1) for row in parts.labels for cell in row))
    parts.more["positives"] = [[i for i, x in enumerate(r) if x] for r in parts.labels]
    return parts, scores, None


def by_scores(parts: Matrices, scores: Any, labels: Any, problem: Problem) -> Found:
    options = {"lengths": parts.lengths, **parts.more}
    results = irbatch.evaluate_scores(scores, labels, list(problem.measures), **options)
    return per_query(results, parts.queries)


def updated_with_scores(parts: Matrices, _scores: Any, _labels: Any, problem: Problem) -> Found:
    """Update query by query, keep the state each time, and go on in another evaluator."""
    evaluator = BatchEvaluator(list(problem.measures))
    for at, query in enumerate(parts.queries):
        rows = np.array([parts.scores[at]]), np.array([parts.labels[at]])
        more = {name: each[at : at + 1] for name, each in parts.more.items()}
        evaluator.update(*rows, query_ids=[query], **more)
        state, evaluator = evaluator.state_dict(), BatchEvaluator(list(problem.measures))
        evaluator.load_state_dict(state)
    return per_query(evaluator.compute())  # type: ignore[arg-type]


# ---------------------------------------------------------------- files


def is_number(cell: object) -> bool:
    return isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool)


def texts(problem: Problem, separators: str) -> None:
    """Require that both sides can be written as text between separators."""
    require(bool(problem.judged and problem.ranked))
    require(not problem.judged_empty and not problem.ranked_empty)
    for query, document, number in (*problem.judged, *problem.ranked):
        require(is_number(number))
        for each in (query, document):
            require(isinstance(each, str) and not {*separators} & {*each})
            require(separators != " " or (each.split() == [each] and each.isprintable()))


def number_text(number: Any) -> str:
    """Write a number as files have it, with every digit."""
    return repr(getattr(number, "item", lambda: number)())


def trec_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides in TREC's forms, or take them as they are given."""
    texts(problem, " ")
    judged = "".join(f"{q} 0 {d} {number_text(x)}\n" for q, d, x in problem.judged)
    ranked = ""
    for q, d, x in problem.ranked:
        rank = 1 + sum(other > x for _, other in problem.ranking(q))
        ranked += f"{q} Q0 {d} {rank} {number_text(x)} tag\n"
    return (
        judged.encode() if problem.qrels_file is None else problem.qrels_file,
        ranked.encode() if problem.run_file is None else problem.run_file,
    )


def tsv_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides as BEIR does: tabs between columns, and a header that names them."""
    require(problem.qrels_file is None is problem.run_file)
    texts(problem, "\t\n\r")
    judged, ranked = (
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"{q}\t{d}\t{number_text(x)}\n" for q, d, x in triples)
        for triples in (problem.judged, problem.ranked)
    )
    return judged.encode(), ranked.encode()


def json_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides as JSON objects, one a line."""
    require(problem.qrels_file is None is problem.run_file)
    texts(problem, "")
    "".join(i for t in (*problem.judged, *problem.ranked) for i in t[:2]).encode()  # no surrogates
    judged, ranked = (
        "".join(
            json.dumps({"query-id": q, "corpus-id": d, "score": x}, default=np.generic.item) + "\n"
            for q, d, x in triples
        )
        for triples in (problem.judged, problem.ranked)
    )
    return judged.encode(), ranked.encode()


def parquet_files(problem: Problem) -> tuple[bytes, bytes]:
    from pyarrow import parquet

    files = []
    for side in columns(problem):
        parquet.write_table(arrow_table(side), stream := io.BytesIO())
        files.append(stream.getvalue())
    return files[0], files[1]


def written(
    write: Callable[[Problem], tuple[bytes, bytes]],
    pack: Pack,
    ending: str,
    problem: Problem,
    folder: Path,
) -> list[str]:
    """Write files of judgments and run, packed, and return their paths."""
    paths = folder / f"judged{ending}", folder / f"ranked{ending}"
    for path, data in zip(paths, write(problem), strict=True):
        path.write_bytes(pack(data))
    return [str(path) for path in paths]


def read_by(
    reader: str, take: Callable[..., Found], judged: str, ranked: str, problem: Problem
) -> Found:
    with pytest.MonkeyPatch.context() as patch:
        use_reader(reader, patch)
        return take(judged, ranked, problem)


def read_before(judged: str, ranked: str, problem: Problem) -> Found:
    return evaluated(irbatch.read_qrels(judged), irbatch.read_run(ranked), problem)


def piped(judged: str, ranked: str, problem: Problem) -> Found:
    data = Path(ranked).read_bytes()
    with pytest.MonkeyPatch.context() as patch, piped_input(data, patch):
        return evaluated(judged, "-", problem)


def parsed(judged: str, ranked: str, problem: Problem) -> Found:
    with Path(judged).open("rb") as qrels, Path(ranked).open("rb") as run:
        sides: Any = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)  # type: ignore[arg-type]
    return evaluated(*sides, problem)


# ---------------------------------------------------------------- commands


def command(*words: str) -> str:
    """Carry out a command in this process and return what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(words))
        except SystemExit as leaving:  # argparse
            status = int(leaving.code or 0)
    if status:
        raise CommandError(status, err.getvalue(), out.getvalue())
    for line in err.getvalue().splitlines():
        what, _, said = line.removeprefix("irbatch: ").partition(": ")
        if what == "warning":
            warn(said)
    return out.getvalue()


def told_by(verb: str, *words: str) -> Any:
    return json.loads(command(verb, *words, "--format", "json"))


def asked(problem: Problem) -> list[str]:
    return [word for name in problem.measures for word in ("-m", name)]


def copied(ranked: str) -> str:
    other = Path(ranked).with_name("same")
    other.write_bytes(Path(ranked).read_bytes())
    return str(other)


def by_eval(judged: str, ranked: str, problem: Problem) -> Found:
    found = told_by("eval", judged, ranked, *asked(problem), "-q")["ranked"]["per_query"]
    names = next(iter(found.values()))
    return {name: {query: each[name] for query, each in found.items()} for name in names}


def by_compare(judged: str, ranked: str, problem: Problem) -> Found:
    files = judged, ranked, copied(ranked)
    means = told_by("compare", *files, *asked(problem), "--draws", "50")["means"]
    return {each["measure"]: {MEAN: each["mean"]} for each in means if each["system"] == "ranked"}


def by_explain(judged: str, ranked: str, problem: Problem) -> Found:
    files = judged, ranked, copied(ranked)
    told = [told_by("explain", *files, "-m", name) for name in problem.measures]
    return {each["measure"]: {MEAN: each["means"][0]} for each in told}


def by_leaderboard(judged: str, ranked: str, problem: Problem) -> Found:
    systems = Path(ranked).with_name("systems")
    systems.write_text(json.dumps({"systems": [{"system": "mine", "run": ranked}]}))
    found = told_by("leaderboard", str(systems), "--qrels", judged, *asked(problem))
    told = found["systems"][0]["accuracy"]  # of several queries with an interval
    return {name: {MEAN: x["mean"] if isinstance(x, dict) else x} for name, x in told.items()}


def by_trec_eval(version: str, judged: str, ranked: str, problem: Problem) -> Found:
    names = trec_names(problem)
    ours = {name.replace(".", "_"): own for name, own in names.items()}
    wishes = [word for name in names for word in ("-m", name)]
    found: Found = {}
    words = ("--as", version, "-q", "-c", "-n", *wishes, judged, ranked)
    for line in command("trec_eval", *words).splitlines():
        name, query, value = line.split("\t")
        found.setdefault(ours[name.strip()], {})[query] = float(value)
    return found


# ---------------------------------------------------------------- all of them


def float32(score: Any) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(score))


def in_own_type(score: Any) -> Any:
    return score


def traits(*words: str) -> frozenset[str]:
    return frozenset(words)


def of_dicts(take: Callable[..., Found], **options: Any) -> Entrance:
    return Entrance(dicts, take, **options)


def of_columns(
    form: Callable[[Columns], Any], take: Callable[..., Found] = evaluated, place: str = "row"
) -> Entrance:
    """Evaluate what is made of named columns; `take` gets both sides."""
    return Entrance(lambda problem, _: tuple(map(form, columns(problem))), take, place)


def of_candidates(
    make: Any, take: Callable[..., Found] = by_scores, *, expected: bool = True
) -> Entrance:
    return Entrance(make, take, "query", MATRIX, IDS, in_own_type, expected)


def of_files(
    take: Callable[..., Found] = evaluated,
    write: Callable[[Problem], tuple[bytes, bytes]] = trec_files,
    reader: str = "lines",
    pack: Pack = bytes,
    place: str = "line",
    **options: Any,
) -> Entrance:
    ending = {gzip.compress: ".gz", bz2.compress: ".bz2"}.get(pack, "")
    ending = ".parquet" if write is parquet_files else ending
    make = partial(written, write, pack, ending)
    return Entrance(make, partial(read_by, reader, take), place, **options)


ANSWERED, MEANS, TEXT = traits("answered queries"), traits("means"), traits("text")
HEADER, PACKED = traits("header", "text"), traits("packed")
TERSE = traits("terse")  # it names the line, not what is wrong with it
TREC_EVAL: dict[str, Any] = {"traits": traits("trec_eval"), "digits": 4}

ENTRANCES: dict[str, Entrance] = {
    "evaluate, dicts": of_dicts(evaluated),
    "evaluate, Qrels and Run": of_dicts(lambda q, r, p: evaluated(Qrels(q), Run(r), p)),
    "evaluate, prepared Run": of_dicts(lambda q, r, p: evaluated(Qrels(q), Run(r).prepared(), p)),
    "evaluate_runs": of_dicts(of_several),
    "compare": of_dicts(compared),
    "Leaderboard": of_dicts(on_a_board, traits=MEANS),
    "pytrec_eval": of_dicts(by_pytrec_eval, traits=ANSWERED, compared=float32),
    "ir_measures": of_dicts(by_ir_measures, compared=float32),
    "BEIR": of_dicts(by_beir, traits=ANSWERED | MEANS, compared=float32, digits=5),
    "from_columns, lists": of_columns(dict, from_columns),
    "from_columns, arrays": of_columns(arrays, from_columns),
    "from_table, mapping": of_columns(dict, from_mappings),
    "evaluate, records": of_columns(records),
    "from_sparse": of_columns(sparse, from_sparse, "ids"),
    "evaluate, structured array": of_columns(structured),
    "evaluate, pandas": of_columns(pandas_frame),
    "evaluate, polars": of_columns(polars_frame),
    "evaluate, polars lazy": of_columns(lazy_frame),
    "evaluate, Arrow": of_columns(arrow_table),
    "evaluate_ids, mappings": of_dicts(by_id_mappings, lacks=SCORES),
    "evaluate_ids, lists": of_dicts(by_id_lists, place="query", lacks=SCORES),
    **{
        f"evaluate_matrix, {kind}": Entrance(
            partial(labels_in_order, kind == "rows"), by_labels, "query", MATRIX, IDS | SCORES
        )
        for kind in ("array", "rows")
    },
    "evaluate_scores": of_candidates(candidates),
    "evaluate_scores, ties by id": of_candidates(candidates_and_ids, expected=False),
    "evaluate_scores, positives": of_candidates(candidates_and_positives),
    "evaluate_scores, lists": of_candidates(candidates_in_lists),
    "BatchEvaluator.update": of_candidates(candidates, updated_with_scores),
    "BatchEvaluator.update_ids": of_dicts(updated_with_ids, place="batch", lacks=SCORES),
    "BatchEvaluator.update_columns": of_dicts(updated_with_columns, traits=traits("columns")),
    "merge_partials": of_dicts(added_up),
    "TREC files, lines": of_files(),
    "TREC files, parser": of_files(reader="parser"),
    "TREC files, pieces": of_files(reader="pieces"),
    "TREC files, gzip": of_files(pack=gzip.compress, traits=PACKED),
    "TREC files, bzip2, pieces": of_files(reader="pieces", pack=bz2.compress, traits=PACKED),
    "read_qrels and read_run": of_files(read_before),
    "compare, files": of_files(compared),
    "standard input": of_files(piped),
    "pytrec_eval's parse_qrel and parse_run": of_files(parsed),
    "TSV files": of_files(write=tsv_files, traits=HEADER),
    "TSV files, gzip, pieces": of_files(
        write=tsv_files, reader="pieces", pack=gzip.compress, traits=HEADER
    ),
    "JSON lines": of_files(write=json_files, traits=TEXT),
    "JSON lines, gzip, pieces": of_files(
        write=json_files, reader="pieces", pack=gzip.compress, traits=TEXT
    ),
    "Parquet files": of_files(write=parquet_files, place="row"),
    "irbatch eval": of_files(by_eval),
    "irbatch compare": of_files(by_compare, traits=MEANS),
    "irbatch explain": of_files(by_explain, traits=MEANS),
    "irbatch leaderboard": of_files(by_leaderboard, traits=MEANS | TERSE),
    "irbatch trec_eval --as 10": of_files(partial(by_trec_eval, "10"), **TREC_EVAL),
    "irbatch trec_eval --as 9": of_files(partial(by_trec_eval, "9"), compared=float32, **TREC_EVAL),
}
