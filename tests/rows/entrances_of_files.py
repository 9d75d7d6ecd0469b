"""Entrances that read files, and the commands."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.file_readers import piped_input, use_reader

import irbatch
from irbatch.cli import main
from rows.containers import gzipped, json_files, parquet_files, trec_files, tsv_files, written
from rows.entrances import (
    NO_ARRAYS,
    TEXT,
    TYPED,
    WORDS,
    Call,
    Entrance,
    FoundRefusalError,
    per_query,
)
from rows.problem import MEAN, Found, Problem

# What measures are called on trec_eval's command line and in what it prints.
TREC = {
    "RR": "recip_rank",
    "AP": "map",
    "nDCG": "ndcg",
    "Bpref": "bpref",
    "P@1": "P.1",
    "P@2": "P.2",
    "P@5": "P.5",
    "R@5": "recall.5",
    "NumRel": "num_rel",
    "NumRet": "num_ret",
    "NumRelRet": "num_rel_ret",
    "P@0": "P.0",
    "P@-1": "P.-1",
    "P@abc": "P.abc",
    "AP@2": "map_cut.2",
    "nDGC": "nDGC",
}


def trec_names(problem: Problem) -> dict[str, Any]:
    """Map trec_eval's names of the measures, so far as it has them, to ours."""
    return {TREC[each]: each for each in problem.measures if isinstance(each, str) and each in TREC}


def _paths(problem: Problem, folder: Path) -> tuple[str, str]:
    return written(folder, trec_files(problem))


def from_files(
    write: Callable[[Problem], tuple[bytes, bytes]],
    reader: str = "lines",
    pack: Callable[[bytes], bytes] = bytes,
    ending: str = "",
) -> Call:
    def call(problem: Problem, folder: Path) -> Found:
        paths = written(folder, write(problem), pack, ending)
        with pytest.MonkeyPatch.context() as patch:
            use_reader(reader, patch)
            return per_query(irbatch.evaluate(*paths, list(problem.measures)))

    return call


def from_read_files(problem: Problem, folder: Path) -> Found:
    judged, ranked = _paths(problem, folder)
    qrels, run = irbatch.read_qrels(judged), irbatch.read_run(ranked)
    return per_query(irbatch.evaluate(qrels, run, list(problem.measures)))


def from_runs_of_files(problem: Problem, folder: Path) -> Found:
    judged, ranked = _paths(problem, folder)
    found = irbatch.evaluate_runs(judged, {"mine": ranked}, list(problem.measures))
    return per_query(found["mine"])


def from_comparison_of_files(problem: Problem, folder: Path) -> Found:
    judged, ranked = _paths(problem, folder)
    found = irbatch.compare(
        judged, {"mine": ranked, "same": ranked}, list(problem.measures), draws=100
    )
    values = dict(zip(found.measures, found.values[0].T.tolist(), strict=True))
    return {name: dict(zip(found.query_ids, each, strict=True)) for name, each in values.items()}


def from_pipe(problem: Problem, folder: Path) -> Found:
    judged, _ = _paths(problem, folder)
    with pytest.MonkeyPatch.context() as patch, piped_input(trec_files(problem)[1], patch):
        return per_query(irbatch.evaluate(judged, "-", list(problem.measures)))


def from_parsed_lines(problem: Problem, folder: Path) -> Found:
    from irbatch.integrations.pytrec_eval import parse_qrel, parse_run

    judged, ranked = _paths(problem, folder)
    with Path(judged).open("rb") as qrels, Path(ranked).open("rb") as run:
        sides: Any = parse_qrel(qrels), parse_run(run)  # type: ignore[arg-type]
    return per_query(irbatch.evaluate(*sides, list(problem.measures)))


def command(*words: str) -> str:
    """Carry out a command in this process and return what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(words))
        except SystemExit as leaving:  # argparse
            status = int(leaving.code or 0)
    text = err.getvalue()
    if status:
        raise FoundRefusalError(status, text, out.getvalue())
    for line in text.splitlines():
        what, _, said = line.removeprefix("irbatch: ").partition(": ")
        if what == "warning":
            from irbatch.errors import warn

            warn(said)
    return out.getvalue()


def _asked(problem: Problem) -> Iterator[str]:
    for each in problem.measures:
        yield from ("-m", str(each))


def from_eval(problem: Problem, folder: Path) -> Found:
    judged, ranked = _paths(problem, folder)
    said = command("eval", judged, ranked, *_asked(problem), "-q", "--format", "json")
    found: dict[str, dict[str, float]] = json.loads(said)["ranked"]["per_query"]
    names = next(iter(found.values()))
    return {name: {query: each[name] for query, each in found.items()} for name in names}


def from_compare(problem: Problem, folder: Path) -> Found:
    judged, ranked = _paths(problem, folder)
    other = folder / "same"
    other.write_bytes(Path(ranked).read_bytes())
    said = command(
        "compare", judged, ranked, str(other), *_asked(problem), "--draws", "50", "--format", "json"
    )
    found = json.loads(said)["means"]
    return {each["measure"]: {MEAN: each["mean"]} for each in found if each["system"] == "ranked"}


def from_explain(problem: Problem, folder: Path) -> Found:
    judged, ranked = _paths(problem, folder)
    other = folder / "same"
    other.write_bytes(Path(ranked).read_bytes())
    found: Found = {}
    for each in problem.measures:
        words = "-m", str(each), "--format", "json"
        told = json.loads(command("explain", judged, ranked, str(other), *words))
        found[told["measure"]] = {MEAN: told["means"][0]}
    return found


def from_leaderboard(problem: Problem, folder: Path) -> Found:
    judged, ranked = _paths(problem, folder)
    (folder / "systems").write_text(json.dumps({"systems": [{"system": "mine", "run": ranked}]}))
    words = ["--qrels", judged, *_asked(problem), "--draws", "0", "--format", "json"]
    found = json.loads(command("leaderboard", str(folder / "systems"), *words))
    return {name: {MEAN: value} for name, value in found["systems"][0]["accuracy"].items()}


def from_trec_eval(version: str) -> Call:
    def call(problem: Problem, folder: Path) -> Found:
        judged, ranked = _paths(problem, folder)
        names = trec_names(problem)
        asked = [word for name in names for word in ("-m", name)]
        said = command("trec_eval", "--as", version, "-q", "-c", "-n", *asked, judged, ranked)
        ours = {name.replace(".", "_"): own for name, own in names.items()}
        found: Found = {}
        for line in said.splitlines():
            name, query, value = line.split("\t")
            found.setdefault(ours[name.strip()], {})[query] = float(value)
        return found

    return call


NAMED = frozenset({"trec names", "rounded"})
FILES = {**NO_ARRAYS, **WORDS}
TABS = {**NO_ARRAYS, **TEXT, "bytes of a file": "the bytes are of TREC's form"}
JSON = {
    **TABS,
    "ids that are no text": "whole numbers are read as text",
    "a grade that is no number": "JSON's kinds are those of the rows of files",
}
PARQUET = {**NO_ARRAYS, **TYPED, "bytes of a file": "the bytes are of TREC's form"}
MEANS = frozenset({"means"})

ENTRANCES = [
    Entrance("TREC files, lines", from_files(trec_files), "line", lacks=FILES),
    Entrance("TREC files, parser", from_files(trec_files, "parser"), "line", lacks=FILES),
    Entrance("TREC files, pieces", from_files(trec_files, "pieces"), "line", lacks=FILES),
    Entrance(
        "TREC files, gzip",
        from_files(trec_files, pack=gzipped, ending=".gz"),
        "line",
        frozenset({"gzip"}),
        FILES,
    ),
    Entrance(
        "TREC files, gzip, pieces",
        from_files(trec_files, "pieces", gzipped, ".gz"),
        "line",
        frozenset({"gzip"}),
        FILES,
    ),
    Entrance("read_qrels and read_run", from_read_files, "line", lacks=FILES),
    Entrance("evaluate_runs, files", from_runs_of_files, "line", lacks=FILES),
    Entrance("compare, files", from_comparison_of_files, "line", lacks=FILES),
    Entrance("standard input", from_pipe, "line", lacks=FILES),
    Entrance("pytrec_eval's parse_qrel and parse_run", from_parsed_lines, "line", lacks=FILES),
    Entrance("TSV files", from_files(tsv_files), "line", frozenset({"header", "text"}), TABS),
    Entrance(
        "TSV files, gzip, pieces",
        from_files(tsv_files, "pieces", gzipped, ".gz"),
        "line",
        frozenset({"header", "text"}),
        TABS,
    ),
    Entrance("JSON lines", from_files(json_files), "line", frozenset({"text"}), JSON),
    Entrance(
        "JSON lines, gzip",
        from_files(json_files, "pieces", gzipped, ".gz"),
        "line",
        frozenset({"text"}),
        JSON,
    ),
    Entrance(
        "Parquet files",
        from_files(parquet_files, ending=".parquet"),
        "row",
        lacks=PARQUET,
        needs=("pyarrow",),
    ),
    Entrance("irbatch eval", from_eval, "line", lacks=FILES),
    Entrance("irbatch compare", from_compare, "line", MEANS, FILES),
    Entrance("irbatch explain", from_explain, "line", MEANS, FILES),
    Entrance("irbatch leaderboard", from_leaderboard, "line", MEANS, FILES),
    Entrance("irbatch trec_eval --as 10", from_trec_eval("10"), "line", NAMED, FILES),
    Entrance("irbatch trec_eval --as 9", from_trec_eval("9"), "line", NAMED | {"float32"}, FILES),
]
