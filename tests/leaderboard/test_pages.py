"""Leaderboards as a page: it needs nothing else, escapes everything, and its picture is right."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.pages import Page, pictures

from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.leaderboard import Leaderboard

AXES = ("RR@10", "latency")
to_html = Leaderboard.to_html


def made(
    latency: Any = (8, 30, 90, 300),
    accuracy: Any = (0.19, 0.33, 0.31, 0.40),
    names: list[str] | None = None,
    **more: Any,
) -> Leaderboard:
    """Put systems on a leaderboard; `more` are fields of every record."""
    names = names or ["bm25", "dense", "slow", "big", *(f"s{i}" for i in range(4, len(latency)))]
    records = [
        EfficiencyRecord(
            system=name, latency=Latency(mean=ms, intervals={"mean": (ms * 0.9, ms * 1.2)}), **more
        )
        for name, ms in zip(names, map(float, latency), strict=False)
    ]
    means: dict[str, dict[str, Any]] = {
        name: {"RR@10": {"mean": mean, "low": mean - 0.01, "high": mean + 0.02}}
        for name, mean in zip(names, map(float, accuracy), strict=False)
    }
    return Leaderboard(means, records)


def test_the_table_is_sorted_by_exact_values() -> None:
    board = made((8, 1 / 3, 12345.678), (0.1, 0.2, 1 / 3), index_memory=5)
    page = Page(to_html(board))
    cells = [attrs["data-v"] for attrs, _ in page.of("td") if attrs.get("class") == "n"]
    exact = np.stack([board.values(name) for name in ("RR@10", "latency", "index_memory")], axis=1)
    assert [float(cell) for cell in cells] == exact.ravel().tolist()
    assert "<strong>0.3333</strong>" in to_html(board)
    assert '<td class="n" data-v="12345.678">12,350</td>' in to_html(board)
    heads = {text: attrs.get("data-first") for attrs, text in page.of("th") if
             attrs["scope"] == "col"}  # fmt: skip
    assert heads["RR@10"] == "descending"
    assert heads["mean latency (ms)"] == "ascending"
    assert heads["system"] is None
    some = Leaderboard({"a": {"P": 0.5}, "b": {"P": 0.5}}, [
        EfficiencyRecord(system="a", throughput=5), EfficiencyRecord(system="b")])  # fmt: skip
    assert '<td class="n" data-v="">–</td>' in to_html(some)
    turned = Page(to_html(made(), columns=["hardware", "qps", "RR@10"]))
    columns = [text for attrs, text in turned.of("th") if attrs["scope"] == "col"]
    assert columns[:4] == ["system", "hardware", "throughput (queries/s)", "RR@10"]
    assert "[0.180, 0.210]" in to_html(made(), intervals=True, digits=3)
    assert "[0.180, 0.210]" not in to_html(made(), digits=3)


def test_the_frontier_is_a_column() -> None:
    source = to_html(made(), frontier=AXES)
    marks = re.findall(r'<tr( class="behind")?><td data-v="([01])">(●?)</td>', source)
    strong, behind = ("", "1", "●"), (' class="behind"', "0", "")
    assert marks == [strong, strong, behind, strong]
    assert "●: on the Pareto frontier of RR@10 and mean latency" in source
    plain = to_html(made())
    assert "●" not in plain
    assert '<tr class="behind">' not in plain


@pytest.mark.parametrize(
    ("fields", "options", "title"),
    [
        ({}, {}, "RR@10 against mean latency"),
        ({"price_per_hour": 1}, {}, "RR@10 against cost per million queries"),
        ({"peak_memory": 3}, {"x": "memory"}, "RR@10 against peak memory"),
        ({"peak_memory": 3}, {"y": "memory"}, "peak memory against mean latency"),
        ({"peak_memory": 3}, {"frontier": ["memory", "RR@10"]}, "RR@10 against peak memory"),
        ({}, {"plots": False}, "none"),
    ],
)
def test_what_the_picture_is_of(fields: Any, options: Any, title: str) -> None:
    found = pictures(to_html(made(**fields), **options))
    assert (found[0][0]["title"] if found else "none") == title


def test_under_the_picture_is_what_it_shows() -> None:
    some = made()
    bm25 = EfficiencyRecord(system="bm25", price_per_hour=3)
    some = some._with(rows=[replace(some.rows[0], record=bm25), *some.rows[1:]])
    source = to_html(some)
    assert "Left out: <bdi>bm25</bdi> (without <bdi>mean latency</bdi>)." in source
    assert "Grey: dominated. Bars: 95% intervals." in source
    assert not pictures(to_html(made().where("RR@10 > 1")))
