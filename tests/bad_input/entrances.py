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

Columns = dict[str, Any]
Work = Callable[[], Found]
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
        make: a problem, and a folder for files, to the evaluation.
        place: how its errors say where: by ``"ids"``, ``"row"``, ``"line"``, ``"query"``, or not.
        traits: what rows of the table may call a group of entrances by.
        lacks: ``"ids"`` of documents, or ``"scores"``.
        compared: what it compares scores as.
        expected: whether it takes the mean over orders of tied documents.
        digits: after the point, where it rounds.
    """

    make: Callable[[Problem, Path], Work]
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


def dicts(problem: Problem) -> tuple[dict[Any, Any], dict[Any, Any]]:
    require(problem.qrels_file is None is problem.run_file)
    return (
        by_query(problem.judged, problem.judged_empty),
        by_query(problem.ranked, problem.ranked_empty),
    )


def of_dicts(evaluate: Callable[[Any, Any, Problem], Found]) -> Callable[[Problem, Path], Work]:
    def make(problem: Problem, _: Path) -> Work:
        sides = dicts(problem)
        return lambda: evaluate(*sides, problem)

    return make


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
    require(qrels.keys() <= run.keys())
    evaluator = BatchEvaluator(list(problem.measures))
    for query in qrels:
        part = {query: qrels[query]}, {query: run[query]}
        evaluator.add(irbatch.evaluate(*part, list(problem.measures)))
    return per_query(evaluator.compute())  # type: ignore[arg-type]


def trec_names(problem: Problem) -> dict[str, str]:
    """Map trec_eval's names of the measures, which it must have, to ours."""
    require(all(name in TREC for name in problem.measures))
    return {TREC[name]: name for name in problem.measures}


def of_pytrec_eval(problem: Problem, _: Path) -> Work:
    (qrels, run), names = dicts(problem), trec_names(problem)
    ours = {name.replace(".", "_"): own for name, own in names.items()}

    def work() -> Found:
        values = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(run)
        return {own: {query: each[name] for query, each in values.items()}
                for name, own in ours.items()}  # fmt: skip

    return work


def of_ir_measures(problem: Problem, _: Path) -> Work:
    import ir_measures

    from irbatch.integrations.ir_measures import IrbatchProvider

    qrels, run = dicts(problem)
    wanted = {ir_measures.parse_measure(name): name for name in problem.measures}

    def work() -> Found:
        found: Found = {name: {} for name in wanted.values()}
        for metric in IrbatchProvider().iter_calc(list(wanted), qrels, run):
            found[wanted[metric.measure]][metric.query_id] = metric.value
        return found

    return work


def of_beir(problem: Problem, _: Path) -> Work:
    qrels, run = dicts(problem)
    places = {name: at for at, name in enumerate(("nDCG", "AP")) if name in problem.measures}
    require(bool(places))

    def work() -> Found:
        families = beir.evaluate(qrels, run, [1000])
        return {name: {MEAN: next(iter(families[at].values()))} for name, at in places.items()}

    return work


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


def of_columns(make: Callable[[Columns], Any], take: Any = evaluated) -> Any:
    """Evaluate what is made of named columns; `take` gets both sides."""

    def entrance(problem: Problem, _: Path) -> Work:
        sides = [make(side) for side in columns(problem)]
        return lambda: take(*sides, problem)

    return entrance


def from_columns(judged: Columns, ranked: Columns, problem: Problem) -> Found:
    sides = Qrels.from_columns(*judged.values()), Run.from_columns(*ranked.values())
    return evaluated(*sides, problem)


def from_mappings(judged: Columns, ranked: Columns, problem: Problem) -> Found:
    return evaluated(Qrels.from_table(judged), Run.from_table(ranked), problem)


def from_records(judged: Any, ranked: Any, problem: Problem) -> Found:
    return evaluated(Qrels.from_records(judged), Run.from_records(ranked), problem)


def from_sparse(judged: Columns, ranked: Columns, problem: Problem) -> Found:
    return evaluated(Qrels.from_sparse(**judged), Run.from_sparse(**ranked), problem)


def records(side: Columns) -> list[Any]:
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


def arrow_table(side: Columns) -> Any:
    import pyarrow as pa

    return pa.table(side)


# ---------------------------------------------------------------- lists, labels and scores


def of_id_lists(problem: Problem, _: Path) -> Work:
    dicts(problem)
    queries = problem.queries()
    require({*queries} == {q for q, _, _ in problem.ranked} | {*problem.ranked_empty})
    ranked = [problem.ordered(query) for query in queries]
    judged = [problem.grades(query) for query in queries]
    return lambda: per_query(irbatch.evaluate_ids(ranked, judged, list(problem.measures)), queries)


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


def of_labels(as_lists: bool) -> Any:
    def make(problem: Problem, _: Path) -> Work:
        parts = Matrices(problem, in_order=True)
        labels = parts.labels if as_lists else parts.array(parts.labels)
        more: dict[str, Any] = {} if as_lists else {"lengths": parts.lengths}
        return lambda: per_query(
            irbatch.evaluate_matrix(labels, list(problem.measures), judged=parts.judged, **more),
            parts.queries,
        )

    return make


def of_scores(way: str) -> Any:
    """Evaluate scores of candidates with labels, with ids, with positives, or as lists."""

    def make(problem: Problem, _: Path) -> Work:
        parts = Matrices(problem)
        options: dict[str, Any] = {"lengths": parts.lengths, **parts.more}
        scores, labels = parts.array(parts.scores), parts.array(parts.labels)
        if way == "lists":
            scores, labels = scores.tolist(), labels.tolist()
        if way == "ids":
            options |= {"ties": "id", "document_ids": parts.ids()}
        if way == "positives":
            require(all(type(cell) is int and cell >= 0 for row in parts.labels for cell in row))
            options["positives"] = [{i: x for i, x in enumerate(r) if x} for r in parts.labels]
            labels = None
        return lambda: per_query(
            irbatch.evaluate_scores(scores, labels, list(problem.measures), **options),
            parts.queries,
        )

    return make


def of_updates(problem: Problem, _: Path) -> Work:
    """Update query by query, keep the state each time, and go on in another evaluator."""
    parts = Matrices(problem)
    for rows in (parts.scores, parts.labels):
        parts.array(rows)

    def work() -> Found:
        evaluator = BatchEvaluator(list(problem.measures))
        for at, query in enumerate(parts.queries):
            rows = np.array([parts.scores[at]]), np.array([parts.labels[at]])
            more = {name: each[at : at + 1] for name, each in parts.more.items()}
            evaluator.update(*rows, query_ids=[query], **more)
            state, evaluator = evaluator.state_dict(), BatchEvaluator(list(problem.measures))
            evaluator.load_state_dict(state)
        return per_query(evaluator.compute())  # type: ignore[arg-type]

    return work


def of_updates_of_ids(problem: Problem, _: Path) -> Work:
    dicts(problem)
    require({*problem.queries()} == {q for q, _, _ in problem.ranked} | {*problem.ranked_empty})
    batches = [(q, problem.ordered(q), problem.grades(q)) for q in problem.queries()]

    def work() -> Found:
        evaluator = BatchEvaluator(list(problem.measures))
        for query, ranked, judged in batches:
            evaluator.update_ids([ranked], [judged], query_ids=[query])
        return per_query(evaluator.compute())  # type: ignore[arg-type]

    return work


def of_updates_of_columns(problem: Problem, _: Path) -> Work:
    """Update document by document, the last ones first."""
    grades = {(q, d): grade for q, d, grade in problem.judged}
    require(len(grades) == len(problem.judged) > 0 == len(problem.judged_empty))
    require(grades.keys() <= {(q, d) for q, d, _ in problem.ranked})
    require({q for q, _ in grades} == {q for q, _, _ in problem.ranked} | {*problem.ranked_empty})
    require(problem.qrels_file is None is problem.run_file)

    def work() -> Found:
        evaluator = BatchEvaluator(list(problem.measures))
        for query, document, score in reversed(problem.ranked):
            grade = grades.get((query, document), 0)
            evaluator.update_columns([query], [document], [score], [grade])
        return per_query(evaluator.compute())  # type: ignore[arg-type]

    return work


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


def rank(problem: Problem, query: Any, score: Any) -> int:
    return 1 + sum(other > score for _, other in problem.ranking(query))


def trec_files(problem: Problem) -> tuple[bytes, bytes]:
    """Write both sides in TREC's forms, or take them as they are given."""
    texts(problem, " ")
    judged = "".join(f"{q} 0 {d} {number_text(x)}\n" for q, d, x in problem.judged)
    ranked = "".join(
        f"{q} Q0 {d} {rank(problem, q, x)} {number_text(x)} tag\n" for q, d, x in problem.ranked
    )
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
    judged, ranked = (
        b"".join(
            json.dumps(
                {"query-id": q, "corpus-id": d, "score": x}, default=np.generic.item
            ).encode()
            + b"\n"
            for q, d, x in triples
        )
        for triples in (problem.judged, problem.ranked)
    )
    "".join(i for t in (*problem.judged, *problem.ranked) for i in t[:2]).encode()  # no surrogates
    return judged, ranked


def parquet_files(problem: Problem) -> tuple[bytes, bytes]:
    from pyarrow import parquet

    files = []
    for side in columns(problem):
        parquet.write_table(arrow_table(side), stream := io.BytesIO())
        files.append(stream.getvalue())
    return files[0], files[1]


def written(folder: Path, files: tuple[bytes, bytes], pack: Any = bytes) -> list[str]:
    """Write files of judgments and run, packed, and return their paths."""
    ending = {bytes: "", gzip.compress: ".gz", bz2.compress: ".bz2"}.get(pack, ".parquet")
    paths = folder / f"judged{ending}", folder / f"ranked{ending}"
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(pack(data))
    return [str(path) for path in paths]


def of_files(
    write: Callable[[Problem], tuple[bytes, bytes]] = trec_files,
    reader: str = "lines",
    pack: Callable[[bytes], bytes] = bytes,
    take: Callable[[Any, Any, Problem], Found] = evaluated,
) -> Callable[[Problem, Path], Work]:
    def make(problem: Problem, folder: Path) -> Work:
        paths = written(folder, write(problem), pack)

        def work() -> Found:
            with pytest.MonkeyPatch.context() as patch:
                use_reader(reader, patch)
                return take(*paths, problem)

        return work

    return make


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


def asked(problem: Problem) -> list[str]:
    return [word for name in problem.measures for word in ("-m", name)]


def by_eval(judged: str, ranked: str, problem: Problem) -> Found:
    said = command("eval", judged, ranked, *asked(problem), "-q", "--format", "json")
    found: dict[str, dict[str, float]] = json.loads(said)["ranked"]["per_query"]
    names = next(iter(found.values()))
    return {name: {query: each[name] for query, each in found.items()} for name in names}


def by_compare(judged: str, ranked: str, problem: Problem) -> Found:
    other = Path(ranked).with_name("same")
    other.write_bytes(Path(ranked).read_bytes())
    words = [*asked(problem), "--draws", "50", "--format", "json"]
    found = json.loads(command("compare", judged, ranked, str(other), *words))["means"]
    return {each["measure"]: {MEAN: each["mean"]} for each in found if each["system"] == "ranked"}


def by_explain(judged: str, ranked: str, problem: Problem) -> Found:
    other = Path(ranked).with_name("same")
    other.write_bytes(Path(ranked).read_bytes())
    found: Found = {}
    for name in problem.measures:
        words = "-m", name, "--format", "json"
        told = json.loads(command("explain", judged, ranked, str(other), *words))
        found[told["measure"]] = {MEAN: told["means"][0]}
    return found


def by_leaderboard(judged: str, ranked: str, problem: Problem) -> Found:
    systems = Path(ranked).with_name("systems")
    systems.write_text(json.dumps({"systems": [{"system": "mine", "run": ranked}]}))
    words = ["--qrels", judged, *asked(problem), "--format", "json"]
    found = json.loads(command("leaderboard", str(systems), *words))
    told = found["systems"][0]["accuracy"]  # of several queries with an interval
    return {name: {MEAN: x["mean"] if isinstance(x, dict) else x} for name, x in told.items()}


def of_trec_eval(version: str) -> Callable[[Problem, Path], Work]:
    def make(problem: Problem, folder: Path) -> Work:
        paths, names = written(folder, trec_files(problem)), trec_names(problem)
        ours = {name.replace(".", "_"): own for name, own in names.items()}
        wishes = [word for name in names for word in ("-m", name)]

        def work() -> Found:
            said = command("trec_eval", "--as", version, "-q", "-c", "-n", *wishes, *paths)
            found: Found = {}
            for line in said.splitlines():
                name, query, value = line.split("\t")
                found.setdefault(ours[name.strip()], {})[query] = float(value)
            return found

        return work

    return make


def float32(score: Any) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(score))


def in_own_type(score: Any) -> Any:
    return score


ANSWERED = frozenset({"answered queries"})
HEADER = frozenset({"header", "text"})
TEXT = frozenset({"text"})
UNPACKED = frozenset({"packed"})
MEANS = frozenset({"means"})
TERSE = frozenset({"terse"})  # it names the line, not what is wrong with it


def files(*given: Any, **options: Any) -> Entrance:
    traits = options.pop("traits", frozenset())
    return Entrance(of_files(*given, **options), "line", traits)


def candidates(make: Any, **options: Any) -> Entrance:
    return Entrance(make, "query", MATRIX, IDS, in_own_type, **{"expected": True, **options})


ENTRANCES: dict[str, Entrance] = {
    "evaluate, dicts": Entrance(of_dicts(evaluated)),
    "evaluate, Qrels and Run": Entrance(of_dicts(lambda q, r, p: evaluated(Qrels(q), Run(r), p))),
    "evaluate, prepared Run": Entrance(
        of_dicts(lambda q, r, p: evaluated(Qrels(q), Run(r).prepared(), p))
    ),
    "evaluate_runs": Entrance(
        of_dicts(
            lambda q, r, p: per_query(irbatch.evaluate_runs(q, {"a": r}, list(p.measures))["a"])
        )
    ),
    "compare": Entrance(of_dicts(compared)),
    "Leaderboard": Entrance(of_dicts(on_a_board), traits=MEANS),
    "pytrec_eval": Entrance(of_pytrec_eval, traits=ANSWERED, compared=float32),
    "ir_measures": Entrance(of_ir_measures, compared=float32),
    "BEIR": Entrance(of_beir, traits=ANSWERED | MEANS, compared=float32, digits=5),
    "from_columns, lists": Entrance(of_columns(dict, from_columns), "row"),
    "from_columns, arrays": Entrance(of_columns(arrays, from_columns), "row"),
    "from_table, mapping": Entrance(of_columns(dict, from_mappings), "row"),
    "from_records": Entrance(of_columns(records, from_records), "row"),
    "from_sparse": Entrance(of_columns(sparse, from_sparse)),
    "evaluate, structured array": Entrance(of_columns(structured), "row"),
    "evaluate, pandas": Entrance(of_columns(pandas_frame), "row"),
    "evaluate, polars": Entrance(of_columns(polars_frame), "row"),
    "evaluate, polars lazy": Entrance(of_columns(lambda side: polars_frame(side).lazy()), "row"),
    "evaluate, Arrow": Entrance(of_columns(arrow_table), "row"),
    "evaluate_ids, mappings": Entrance(of_dicts(by_id_mappings), lacks=SCORES),
    "evaluate_ids, lists": Entrance(of_id_lists, "query", lacks=SCORES),
    "evaluate_matrix, array": Entrance(of_labels(False), "query", MATRIX, IDS | SCORES),
    "evaluate_matrix, rows": Entrance(of_labels(True), "query", MATRIX, IDS | SCORES),
    "evaluate_scores": candidates(of_scores("labels")),
    "evaluate_scores, ties by id": candidates(of_scores("ids"), expected=False),
    "evaluate_scores, positives": candidates(of_scores("positives")),
    "evaluate_scores, lists": candidates(of_scores("lists")),
    "BatchEvaluator.update": candidates(of_updates),
    "BatchEvaluator.update_ids": Entrance(of_updates_of_ids, "batch", lacks=SCORES),
    "BatchEvaluator.update_columns": Entrance(of_updates_of_columns, traits=frozenset({"columns"})),
    "BatchEvaluator.add": Entrance(of_dicts(added_up)),
    "TREC files, lines": files(),
    "TREC files, parser": files(reader="parser"),
    "TREC files, pieces": files(reader="pieces"),
    "TREC files, gzip": files(pack=gzip.compress, traits=UNPACKED),
    "TREC files, bzip2, pieces": files(pack=bz2.compress, reader="pieces", traits=UNPACKED),
    "read_qrels and read_run": files(take=read_before),
    "compare, files": files(take=compared),
    "standard input": files(take=piped),
    "pytrec_eval's parse_qrel and parse_run": files(take=parsed),
    "TSV files": files(tsv_files, traits=HEADER),
    "TSV files, gzip, pieces": files(tsv_files, "pieces", gzip.compress, traits=HEADER),
    "JSON lines": files(json_files, traits=TEXT),
    "JSON lines, gzip, pieces": files(json_files, "pieces", gzip.compress, traits=TEXT),
    "Parquet files": Entrance(of_files(parquet_files, pack=lambda data: data), "row"),
    "irbatch eval": files(take=by_eval),
    "irbatch compare": files(take=by_compare, traits=MEANS),
    "irbatch explain": files(take=by_explain, traits=MEANS),
    "irbatch leaderboard": files(take=by_leaderboard, traits=MEANS | TERSE),
    "irbatch trec_eval --as 10": Entrance(
        of_trec_eval("10"), "line", frozenset({"trec_eval"}), digits=4
    ),
    "irbatch trec_eval --as 9": Entrance(
        of_trec_eval("9"), "line", frozenset({"trec_eval"}), compared=float32, digits=4
    ),
}
