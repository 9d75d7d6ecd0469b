"""Texts in views of 16 bytes, against columns of slices and against dictionaries."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch.data import lookup, short_texts
from irbatch.data.ids import TextColumn
from irbatch.data.lookup import KeyedIds, first_rows, group_runs
from irbatch.data.short_texts import ShortIds, ShortTexts

# Alike but for their ends, for what stands behind them, for one half of one word.
NASTY = ["", "\0", "\0\0", "a", "a\0", "a\0b", "b", "7654321", "7654321\0", "twelve bytes",
         "twelve byteS", "Twelve bytes", "twelveXbytes", "é", "éé", "e", "ÿÿÿÿÿÿ", "\x7f" * 12,
         "日本語日", "日本語", "12345678", "123456789", "1234", "0001234", "00001234"]  # fmt: skip
LONG = ["thirteen byte", "thirteen bytf", "twelve bytes ", "日本語日本", "x" * 300]


def as_views(texts: list[str]) -> Any:
    """Views as Arrow has them, int32 ``(n, 4)``; only short texts."""
    encoded = [each.encode() for each in texts]
    padded = b"".join(len(each).to_bytes(4, "little") + each.ljust(12, b"\0") for each in encoded)
    return np.frombuffer(padded, np.int32).reshape(-1, 4)


def shuffled(random: np.random.Generator, texts: list[str], count: int) -> list[str]:
    """Some texts in random order; arrays of NumPy would lose zeros at their ends."""
    return [texts[i] for i in random.permutation(len(texts))[:count]]


def as_short(texts: list[str]) -> ShortTexts:
    found, unchecked = ShortTexts.of_views(as_views(texts))
    assert found is not None
    assert found.unchecked == unchecked
    assert unchecked != "".join(texts).isascii()
    return found


@pytest.fixture(params=["0", "1"], ids=["plain", "compiled"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRBATCH_JIT", request.param)


def test_short_texts_are_texts() -> None:
    short = as_short(NASTY)
    assert len(short) == len(NASTY)
    assert short.tolist() == NASTY
    rows = np.array([3, 0, 9])
    assert short.take(rows).tolist() == [NASTY[row] for row in rows]
    assert short.take(slice(2, 5)).tolist() == NASTY[2:5]
    assert short.copied().tolist() == NASTY
    assert [each.dtype for each in (short.text, short.starts, short.lengths)] == [
        np.uint8, np.int64, np.int32,
    ]  # fmt: skip
    assert len(as_short([])) == 0
    assert not hasattr(short, "other")


def test_what_is_no_short_text() -> None:
    for word, value in ((0, 13), (0, -1), (0, 2**31 - 1), (1, 0x62_61), (2, 1), (3, 1 << 24)):
        views = as_views(["a", "b"]).copy()
        views[1, word] = value
        assert ShortTexts.of_views(views) == (None, False), (word, value)
        views = np.concatenate([views, as_views(["é"])])
        assert ShortTexts.of_views(views) == (None, True), (word, value)
    assert (
        ShortTexts.of_column(TextColumn.encode(NASTY)).words.tolist()
        == as_short(NASTY).words.tolist()
    )
    long = ShortTexts.of_column(TextColumn.encode([*LONG, "a"])).words
    there = set(map(tuple, as_short(NASTY).words.tolist()))
    assert [tuple(each) in there for each in long.tolist()] == [False] * len(LONG) + [True]


@pytest.mark.parametrize("seed", range(4))
def test_grouped_and_found_as_slices_are(seed: int) -> None:
    random = np.random.default_rng(seed)
    rankings = [shuffled(random, NASTY, random.integers(0, 20)) for _ in range(60)]
    wanted = [shuffled(random, NASTY + LONG, random.integers(0, 9)) for _ in rankings]
    texts = [each for ranking in rankings for each in ranking]
    ends = np.cumsum([len(each) for each in rankings])
    begins = ends - [len(each) for each in rankings]
    stops = np.cumsum([len(each) for each in wanted])
    firsts = stops - [len(each) for each in wanted]
    judged = TextColumn.encode([each for some in wanted for each in some])
    places = random.permutation(60) - (random.random(60) < 0.1) * 100
    places[places < 0] = -1

    slices = KeyedIds.of(TextColumn.encode(texts), begins, ends)
    short = ShortIds(as_short(texts).words, begins, ends)
    assert lookup.find_repeated(slices) == short_texts.find_repeated(short) == -1
    expected = lookup.find_rows(slices, KeyedIds.of(judged, firsts, stops), places)
    words = ShortTexts.of_column(judged).words
    found = short_texts.find_rows(short, ShortIds(words, firsts, stops), places)
    assert found.tolist() == expected.tolist()
    assert (found >= 0).any()

    several = [NASTY[i] for i in random.integers(0, len(NASTY), 300)]
    for ids in (several, sorted(several)):
        ours, theirs = (grouped(each) for each in (as_short(ids), TextColumn.encode(ids)))
        for one, other in zip(ours, theirs, strict=True):
            assert (one is None) == (other is None)
            assert one is None or one.tolist() == other.tolist()


def grouped(ids: TextColumn) -> Any:
    firsts = first_rows(ids)
    return group_runs(ids.take(firsts), firsts, len(ids))


def test_texts_that_share_a_word_or_a_slot_are_told_apart() -> None:
    random = np.random.default_rng(8)
    every = [f"same{i:08}" for i in range(3000)] + [f"{i:04}the same" for i in range(3000)]
    texts = shuffled(random, every, 3000)
    bounds = np.array([0]), np.array([len(texts)])
    short = ShortIds(as_short(texts).words, *bounds)
    assert short_texts.find_repeated(short) == -1
    judged = ShortIds(as_short(every).words, np.array([0]), np.array([len(every)]))
    places = dict(zip(texts, range(len(texts)), strict=True))
    expected = [places.get(each, -1) for each in every]
    assert short_texts.find_rows(short, judged, np.array([0])).tolist() == expected


def test_repeated_texts_are_found() -> None:
    random = np.random.default_rng(9)
    for _ in range(50):
        texts = shuffled(random, NASTY, len(NASTY))
        texts[int(random.integers(1, 20))] = texts[0]
        bounds = np.array([0]), np.array([len(texts)])
        row = short_texts.find_repeated(ShortIds(as_short(texts).words, *bounds))
        assert texts[row] == texts[0]
        assert row > 0
        apart = np.array([0, 1]), np.array([1, len(texts)])
        assert short_texts.find_repeated(ShortIds(as_short(texts).words, *apart)) == -1


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("judgments", ["frame", "dictionary"])
@pytest.mark.parametrize("rows", ["in order", "shuffled", "in chunks"])
def test_frames_of_views_are_what_dictionaries_are(long: bool, judgments: str, rows: str) -> None:
    polars = pytest.importorskip("polars")
    random = np.random.default_rng(3)
    ids = NASTY + LONG * long
    run = {
        f"q{q}": {each: float(random.integers(0, 9)) for each in shuffled(random, ids, 14)}
        for q in range(40)
    }
    qrels = {
        query: {each: int(random.integers(0, 3)) for each in shuffled(random, NASTY + LONG, 8)}
        for query in run
    }
    expected = irbatch.evaluate(qrels, run, "AP nDCG@5 RR")

    def as_frame(side: dict[str, dict[str, Any]], value: str) -> Any:
        flat = [(q, d, v) for q, found in side.items() for d, v in found.items()]
        names = ["query_id", "doc_id", value]
        if rows == "shuffled":
            flat = [flat[i] for i in random.permutation(len(flat))]
        cuts = [0, 100, 101, len(flat)] if rows == "in chunks" else [0, len(flat)]
        parts = [
            polars.DataFrame(flat[a:b], schema=names, orient="row")
            for a, b in itertools.pairwise(cuts)
        ]
        return polars.concat(parts, rechunk=False)

    judged = as_frame(qrels, "relevance") if judgments == "frame" else qrels
    found = irbatch.evaluate(judged, as_frame(run, "score"), "AP nDCG@5 RR")
    for measure in expected.measures:
        assert found.per_query(measure) == expected.per_query(measure)
    if not long:
        assert isinstance(irbatch.Run.from_table(as_frame(run, "score")).rankings.documents,
                          ShortTexts)  # fmt: skip
