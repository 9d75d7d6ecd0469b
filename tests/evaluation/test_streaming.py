"""Evaluating a run file while it is read gives what evaluating it whole gives, or is not done."""

from __future__ import annotations

import functools
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.random_problems import Run, nasty_problems

import irbatch
from irbatch.data.columns import QueryTable
from irbatch.formats import reader as file_reader
from irbatch.formats import streams
from irbatch.formats.bytes import parse_lines
from irbatch.formats.lines import recognise
from irbatch.formats.streams import open_input
from irbatch.measures import plan

MEASURES = "nDCG@10 AP RR P@5 Bpref IPrec(recall=0.3) NumRet GMAP"


@pytest.fixture(autouse=True)
def _all_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_lines, "run_compiled", parse_lines.run)
    monkeypatch.setattr(streams, "PIECE", 200)


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each file evaluated, whether it was while it was read."""
    said: list[bool] = []
    genuine = file_reader.Reader.map_tables

    def spy(reader: file_reader.Reader, work: Callable[[QueryTable], Any]) -> Iterator[Any]:
        yield from genuine(reader, work)
        said.append(True)

    monkeypatch.setattr(file_reader.Reader, "map_tables", spy)
    return said


def lines(run: Run, rng: random.Random) -> Iterator[str]:
    """Each query's documents together, in any order."""
    for query, ranking in run.items():
        for document, score in rng.sample(list(ranking.items()), len(ranking)):
            yield f"{query} Q0 {document} 0 {score!r} t\n"


def fits(name: str) -> bool:
    return not set(" \t\n\r\0") & set(name) and not name.startswith("#")


def problems(seed: int, count: int) -> Iterator[tuple[dict[str, dict[str, float]], Run]]:
    """Problems that can stand in files, with queries on both sides."""
    for qrels, run in nasty_problems(seed, count):
        judged = {q: {d: g for d, g in each.items() if fits(d)} for q, each in qrels.items()}
        ranked = {q: {d: float(s) for d, s in each.items() if fits(d)}
                  for q, each in run.items() if fits(q)}  # fmt: skip
        ranked = {q: each for q, each in ranked.items() if each}
        if ranked.keys() & judged.keys():
            yield judged, ranked


def test_formulas_of_users_run_in_the_callers_thread(
    tmp_path: Path, streamed: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRBATCH_THREADS", "4")
    monkeypatch.setattr(plan, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(plan, "CELLS_OF_VALUE", 1 << 30)
    threads: set[int] = set()

    @irbatch.define_measure("HalfTheHits", definition="Hits, halved.", source="a test")
    def halved(known: Any) -> Any:
        threads.add(threading.get_ident())
        return known.hits / 2.0

    run = {f"q{q}": {f"d{d}": float(-d) for d in range(q % 5 + 1)} for q in range(90)}
    judged = {query: {"d0": 1.0, "d2": 1.0} for query in run}
    path = tmp_path / "run"
    path.write_text("".join(lines(run, random.Random(0))))
    whole = irbatch.evaluate(judged, run, "HalfTheHits@2", threads=4)
    assert irbatch.evaluate(judged, path, "HalfTheHits@2").to_dict() == whole.to_dict()
    assert threads == {threading.get_ident()}
    assert streamed == [True]


@pytest.mark.parametrize(
    "settings",
    [{}, {"missing": "skip"}, {"trec_eval": "9"}, {"no_relevant": "skip", "judged_only": True},
     {"max_depth": 3, "rel": 2}],
    ids=repr,
)  # fmt: skip
def test_the_same_results(
    tmp_path: Path, streamed: list[bool], settings: dict[str, object]
) -> None:
    rng = random.Random(2)
    files = 0
    for number, (qrels, run) in enumerate(problems(41, 20)):
        path = tmp_path / str(number)
        path.write_text("".join(lines(run, rng)))
        found = irbatch.evaluate(qrels, path, MEASURES, **settings)  # type: ignore[arg-type]
        whole = irbatch.evaluate(qrels, run, MEASURES, **settings)  # type: ignore[arg-type]
        assert found.values.tobytes() == whole.values.tobytes()
        assert (found.query_ids, found.counts) == (whole.query_ids, whole.counts)
        assert found.settings == whole.settings
        assert found.name == str(path)
        files += 1
    assert len(streamed) > 0.7 * files


QRELS = {"a": {"d1": 1, "d2": 0}, "b": {"d1": 2}, "c": {"d9": 1}}


def test_several_runs_and_progress(tmp_path: Path, streamed: list[bool]) -> None:
    paths = []
    for name in ("one", "two"):
        run = {q: {f"d{i}": float(-i) for i in range(100)} for q in "abc"}
        paths.append(tmp_path / f"{name}.run")
        paths[-1].write_text("".join(lines(run, random.Random(1))))
    results = irbatch.evaluate_runs(QRELS, paths, "AP")
    assert {name: each.name for name, each in results.items()} == {"one": "one", "two": "two"}
    assert len(streamed) == 2
    said: list[tuple[int, int]] = []
    irbatch.evaluate(QRELS, paths[0], "AP", progress=lambda done, all_: said.append((done, all_)))
    assert said[-1] == (paths[0].stat().st_size,) * 2
    assert [done for done, _ in said] == sorted(done for done, _ in said)


@pytest.mark.parametrize("kind", ["together", "in turn", "one query", "ends meet"])
def test_pieces_stay_small_whatever_the_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """They are cut between queries where that is possible, and nothing is carried on for long."""
    size = 2000
    monkeypatch.setattr(streams, "PIECE", size)
    names = {
        "together": [f"q{i // 40}" for i in range(4000)],
        "in turn": [f"q{i % 7}" for i in range(4000)],
        "one query": ["q"] * 4000,
        "ends meet": ["q" if i % 90 > 3 else f"p{i}" for i in range(4000)],
    }
    rows = [(query, f"d{i}", 4000 - i) for i, query in enumerate(names[kind])]
    path = tmp_path / "run"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, s in rows))
    with open_input(path, "run") as file:
        form = functools.partial(recognise, source="run")
        reader = file_reader.Reader(file, [file.path], file.path, form)
        pieces = list(file.pieces())
    assert reader.is_large
    assert b"".join(pieces) == path.read_bytes()
    assert max(map(len, pieces)) <= 2 * size + 50
    if kind == "together":
        starts = [bytes(piece).split()[0] for piece in pieces]
        ends = [bytes(piece).splitlines()[-1].split()[0] for piece in pieces]
        assert all(end != start for end, start in zip(ends, starts[1:], strict=False))
    judged = {"q": {"d5": 1, "d3999": 1}, "q1": {"d41": 1, "d8": 1}}
    run: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        run.setdefault(query, {})[document] = score
    assert irbatch.evaluate(judged, path, MEASURES).values.tobytes() == (
        irbatch.evaluate(judged, run, MEASURES).values.tobytes()
    )
