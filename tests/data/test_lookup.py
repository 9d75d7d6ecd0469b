"""Documents are found by hashes of their ids, and hashes decide nothing."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from irbatch.data import lookup
from irbatch.data.ids import TextColumn
from irbatch.data.lookup import IdLookup, KeyedIds, find_repeats, find_rows
from irbatch.runtime.threads import map_items, map_ranges

IDS = [*"abc", "", *("d" * n for n in (7, 8, 9, 16, 17)), "é", "ü" * 8, "d" * 7 + "é", "a\0"]


def keyed(texts: list[str], seeds: list[int]) -> KeyedIds:
    one = np.array([0]), np.array([len(texts)])
    return KeyedIds.of(TextColumn.encode(texts), *one)._replace(seeds=np.array(seeds))


@pytest.mark.parametrize("seeds", [[0, 0, 0], [1, 0, 0], [2**62 + 1, -(2**61), 12345]])
@pytest.mark.parametrize("jit", ["0", "1"])
def test_whatever_the_hashes(monkeypatch: pytest.MonkeyPatch, seeds: list[int], jit: str) -> None:
    monkeypatch.setenv("IRBATCH_JIT", jit)
    retrieved = keyed(IDS, seeds)
    assert not find_repeats(retrieved, 1).size
    wanted = ["x", *IDS[::-1], "d" * 6, "d" * 18]
    rows = find_rows(retrieved, keyed(wanted, seeds), np.array([0]))
    assert rows.tolist() == [IDS.index(each) if each in IDS else -1 for each in wanted]
    for i in range(len(IDS)):
        assert find_repeats(keyed([*IDS, IDS[i]], seeds), 1).tolist() == [[len(IDS)], [i]]


def test_threads_of_items_do_ranges_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would wait for each other for ever, if they gave them to threads that wait as well."""
    monkeypatch.setenv("IRBATCH_THREADS", "2")

    def work(item: int) -> int:
        done: list[int] = []
        map_ranges(lambda start, stop: done.extend(range(start, stop)), 100, cells=1 << 30)
        map_ranges(lambda start, stop: done.extend(range(start, stop)), 100, cells=1, threads=2)
        return item * len(done)

    assert list(map_items(work, range(20))) == [200 * item for item in range(20)]


class CountedSlots:
    """Slots of a table, with the number of looks at them."""

    def __init__(self, size: int) -> None:
        self.values, self.size, self.looks = np.empty(size, np.int32), size, 0

    def __getitem__(self, slot: int) -> int:
        self.looks += 1
        return int(self.values[slot])

    def __setitem__(self, slot: Any, value: int) -> None:
        self.values[slot] = value


SEEDS = np.frombuffer(np.random.default_rng(11).bytes(24), np.int64) | 1
COUNT = np.arange(1, 1025, dtype=np.int64)
CHOSEN = {
    "one after the other": COUNT,
    "halves that are alike": COUNT * (2**31 + 1),
    "halves that cancel out": (COUNT << 32) | COUNT,
    "high bits": COUNT << 52,
    "middle bits": COUNT << 31,
    "negative": -COUNT * (2**31 - 1),
    "multiples of what spreads them": COUNT * 0x5E3779B1,
}


CHOSEN["texts"] = TextColumn.encode(
    ["".join(each) for each in itertools.product(["Aa", "BB"], repeat=10)]
)


@pytest.mark.parametrize("ids", CHOSEN.values(), ids=CHOSEN)
@pytest.mark.parametrize(("density", "size"), [(lookup.TIGHT, 2048), (lookup.DENSE, 4096)])
def test_ids_that_clash_cannot_be_chosen(ids: Any, density: int, size: int) -> None:
    slots: Any = CountedSlots(size)
    documents = KeyedIds.of(ids, np.array([0]), np.array([len(ids)]))._replace(seeds=SEEDS)
    repeats = np.empty((2, 1), np.int64)
    assert lookup._enter_rows.source(documents, 0, 1, density, slots, repeats) == 0
    assert slots.looks < 8 * len(ids)


def test_what_is_pickled_is_found_in_another_process() -> None:
    """Hashes are by numbers that each process chooses anew."""
    program = (
        "import pickle, sys, numpy as np, irbatch; "
        "q, d = np.repeat(np.arange(30), 10).astype(str), np.tile(np.arange(10), 30).astype(str); "
        "d = np.char.add('a long document ', d); "
        "run = irbatch.Run.from_columns(q, d, np.arange(300) % 7 / 2); "
        "qrels = irbatch.Qrels.from_columns(q, d, np.arange(300) % 3); "
        "items = irbatch.Items(d[:10]); "
    )
    measures = "'AP nDCG CatalogueCoverage@3'"
    written = subprocess.run(
        [sys.executable, "-c", f"{program}sys.stdout.buffer.write(pickle.dumps((qrels, items)))"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    told = f"print(irbatch.evaluate(qrels, run, {measures}, items=items).mean())"
    wanted, found = (
        subprocess.run(
            [sys.executable, "-c", f"{program}{loading}{told}"],
            input=written, capture_output=True, check=True,
        ).stdout
        for loading in ("", "qrels, items = pickle.load(sys.stdin.buffer); ")
    )  # fmt: skip
    assert found == wanted


def test_numba_compiles_for_whole_numbers_that_are_read_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As Arrow's are; hashes of texts are written where these numbers stand."""
    monkeypatch.setenv("IRBATCH_JIT", "numba")
    for kernel in (lookup._enter_rows, lookup._find_each):
        monkeypatch.setattr(kernel, "_code", {})
    ids = np.arange(0, 50, 7)
    ids.flags.writeable = False
    assert IdLookup(ids).find(np.array([49, 3, 14])).tolist() == [7, -1, 2]
