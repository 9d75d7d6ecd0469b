"""Records and leaderboards of what can't be: one table of entrances and values.

Each is an InputError that names the system and the field; what is handed in stays as it was.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency
from irbatch.efficiency.interchange import Count, Whole, kinds_of
from irbatch.leaderboard import Leaderboard

NAN, INF = math.nan, math.inf
NO_NUMBERS = ["x", b"1", True, 1j, [1], {}, 10**400, NAN, np.array([1.0, 2.0])]
NO_AMOUNTS = [*NO_NUMBERS, INF, -1, -1e-300]
NO_COUNTS = [*NO_AMOUNTS, 0.5]
NO_TEXTS = ["", "\n", 1, True, b"x", ["x"], {}]
LEVELS = [None, "0.05", 0, 0.51, NAN, True, [0.05]]
DRAWS = [None, "10", -1, 1.5, True]


def made(**more: Any) -> EfficiencyRecord:
    return EfficiencyRecord(system="bm25", **more)


def record(system: str, mean: float | None = None, **more: Any) -> EfficiencyRecord:
    latency = None if mean is None else Latency(mean=mean)
    return EfficiencyRecord(system=system, latency=latency, **more)


Row = tuple[Callable[[Any], object], list[Any], tuple[str, ...]]
KINDS: dict[Any, list[Any]] = {
    float: NO_AMOUNTS, str: NO_TEXTS, Whole: NO_COUNTS, Count: [*NO_COUNTS, 0],
}  # fmt: skip
OWNERS: dict[Any, dict[str, Any]] = {
    EfficiencyRecord: {"system": "bm25"}, Hardware: {}, Latency: {"loop": "open"},
}  # fmt: skip
OF_RECORDS: list[Row] = [
    *((lambda x, o=owner, n=name: o(**{**OWNERS[o], n: x}),
       [*KINDS[kind], *([] if is_optional else [None])], (name,))
      for owner in OWNERS for name, (kind, is_optional) in kinds_of(owner).items()
      if kind in KINDS),
    *((lambda x, n=name: made(**{n: x}), [{"x": 3}, True, b"c6g", []], ("'bm25'", name))
      for name in ("hardware", "latency")),
    (lambda x: made(hardware=x), [None, "", " ", Latency()], ("'bm25'", "hardware")),
    (lambda x: made(latency=x), ["c6g", Hardware()], ("'bm25'", "latency")),
    (lambda x: EfficiencyRecord.from_dict({"system": x}), [*NO_TEXTS, None], ("system",)),
    (lambda x: made().value(x), ["latency_p42", "", None, 5, {}], ("no quantity",)),
    (lambda x: made().interval(x), ["latency_p42", "", None, 5, {}], ("no quantity",)),
    (lambda x: made().value(x), ["troughput"], ("did you mean throughput?",)),
    (lambda x: Hardware.here(x), NO_TEXTS, ("hardware", "instance")),
    (lambda x: Latency(loop=x), ["half open"], ("latency", "loop")),
    (lambda x: Latency(loop="open", arrivals=x), ["Poisson", 1], ("latency", "arrivals")),
    (lambda x: Latency(**x), [{"p50": 5, "p90": 4}, {"p90": 1, "p95": 3, "p99": 2}],
     ("latency", "more than p")),
    (lambda x: Latency(intervals=x), [None, 5, "mean", [("mean", (1, 2))]], ("interval",)),
    (lambda x: Latency(intervals={"mean": x}), [None, 5, "ab", [1], [1, 2, 3], {1, 2}, [1, None],
     [NAN, 1], [0, INF], [-1, 2], [2, 1], ["1", 2], [True, 2]], ("latency", "interval", "'mean'")),
    (lambda x: Latency(intervals={x: (0, 2)}), ["p42", "", None, 50], ("latency", "interval")),
    (lambda x: Latency.from_samples([1, 2], level=x), LEVELS, ("level",)),
    (lambda x: Latency.from_samples([1.0, 2.0], draws=x), DRAWS, ("draws",)),
    (lambda x: Latency.from_samples(x, draws=10),
     [None, [], [[]], "abc", {}, {1.0}, [None], [NAN], [1, INF], [-1], ["x"], [[1, 2], [3]],
      [[[1]]], [1j], np.array([1, 2], "timedelta64[s]")], ("latency",)),
    (lambda x: Latency.from_samples(x), [[1, 2, -3.5]], ("latency", "call 2", "-3.5")),
    (lambda x: EfficiencyRecord.from_dict(x), [None, 5, "bm25", [], {1}], ("record",)),
    (lambda x: EfficiencyRecord.from_json(x), [None, 5, b"{}", [], {"system": "bm25"}],
     ("record",)),
]  # fmt: skip

QRELS = {"q1": {"d": 1}, "q2": {"d": 1}}
RESULTS = irbatch.evaluate(QRELS, {"q1": {"d": 1.0}}, "RR")
NAMED = irbatch.evaluate_runs(QRELS, {"a": {"q1": {"d": 1.0}}}, "RR")["a"]
NOTHING = irbatch.evaluate({"q": {"d": 0}}, {"q": {"d": 1.0}}, "RR", no_relevant="skip")
ACCURACY = {"a": {"RR": 0.5, "AP": 0.3}, "b": {"RR": 0.4, "AP": 0.4}}
RECORDS = [record("a", 3, price_per_hour=1), record("b", 5, throughput=2)]
BOARD = Leaderboard(ACCURACY, RECORDS)
NOBODY = BOARD.where("RR > 0.9")
HUGE = Leaderboard({"a": {"RR": 1}}, record("a", 1e308, price_per_hour=1e308))
ON_C6G = Leaderboard({"a": {"RR": 1}}, record("a", 3, hardware="c6g"))
NO_AXES = ["nDGC", "", "latency_p42", None, 5, NAN, b"RR"]


def of(accuracy: Any, records: Any = None, **more: Any) -> Leaderboard:
    return Leaderboard(accuracy, RECORDS if records is None else records, **more)


def one(results: Any, **more: Any) -> Leaderboard:
    return Leaderboard(results, RECORDS[0], **more)


OF_BOARDS: list[Row] = [
    (lambda x: Leaderboard(ACCURACY, x), [None, 5, "a", b"a", [], {}, [None], ["a"],
     [{"system": "a"}], {"a": None}, [RECORDS]], ("record",)),
    (lambda x: of(ACCURACY, x), [[*RECORDS, record("a")]], ("two records", "'a'")),
    (of, [None, 5, NAN, "a", b"ab", object()], ("results",)),
    (of, [{"a": ACCURACY["a"]}, {**ACCURACY, "b": {}}], ("'b'", "missing")),
    (of, [{}, []], ("'a'", "accuracy is missing")),
    (of, [{"A": {}, "b": {}}], ("did you mean A?",)),
    (of, [{"a": {}, "b": {}}], ("no measure",)),
    (lambda x: of(ACCURACY, x), [RECORDS[:1]], ("'b'", "record")),
    (lambda x: of({"bm25": {}}, [record(x)]), ["bm25s"], ("'bm25s'", "did you mean bm25?")),
    (one, [[RESULTS], RESULTS, [{"RR": 1}], [None]], ("no name",)),
    (one, [[NAMED, NAMED]], ("two results", "'a'")),
    (lambda x: of({**ACCURACY, "b": x}), [None, 5, NAN, "RR", [0.5], {"RR"}, object()],
     ("'b'", "accuracy")),
    (lambda x: of({**ACCURACY, "b": {"AP": x}}), [*NO_NUMBERS, None, INF], ("'b'", "AP")),
    (lambda x: of({**ACCURACY, "b": {"AP": {"mean": x}}}), [*NO_NUMBERS, None], ("'b'", "AP")),
    *((lambda x, n=name: one({"a": {"RR": {"mean": 0.5, n: x}}}), [*NO_NUMBERS, INF],
       ("'a'", "RR", name)) for name in ("low", "high")),
    (lambda x: one({"a": {"RR": x}}), [{}, {"low": 0.1}, {"mean": 0.5, "std": 1},
     {"mean": 0.5, "low": 0.6, "high": 0.4}, {"mean": 0.5, None: 1}], ("'a'", "RR")),
    (lambda x: one({"a": {x: 3}}), ["cost", "latency_p95", "flops"], ("measure",)),
    (lambda x: one({"a": x}), [NOTHING], ("'a'", "RR", "nan")),
    (lambda x: of(ACCURACY, measures=x), [5, NAN, [], "", [None], [["RR"]], "P@1"], ()),
    (lambda x: of(ACCURACY, measures=x), [["RR", "nDCG"]], ("'a'", "nDCG is missing")),
    (lambda x: one({"a": RESULTS}, measures=x), [["RR", "RR"], ["RR", "MRR"]], ("twice",)),
    (lambda x: one({"a": {"RR": 1}}, level=x), LEVELS, ("level",)),
    *((act, NO_AXES, ("axis",)) for act in (
        BOARD.axis, BOARD.values, BOARD.bounds, BOARD.sorted, lambda x: BOARD.pareto(["RR", x]),
    )),
    (BOARD.values, ["cost_per_milion"], ("did you mean cost_per_million?",)),
    (BOARD.values, ["Q"], ("RR, AP",)),
    (BOARD.pareto, [None, 5, [], {}, ""], ("axis",)),
    (BOARD.pareto, [["RR", "MRR"], ["latency", "latency_mean"]], ("twice",)),
    (BOARD.pareto, ["peak_memory"], ("'a'", "peak_memory is missing")),
    (BOARD.pareto, [["price_per_hour", "qps"]],
     ("no system has a value of each of price_per_hour and throughput",)),
    *((act, ["cost_per_million"], ("'a'", "finite")) for act in (HUGE.values, HUGE.pareto)),
    (BOARD.where, ["", "RR", "RR >", "> 1", "RR = 1", "RR > x", "RR > nan", "RR > inf", "1 < RR",
     "RR > 1 2", "RR > 0x10", "RR > \uff11", None, 5, [], b"RR > 0.1", True],
     ("condition",)),
    (BOARD.where, ["nDGC > 1", "latency_p42 < 5", "RR AP > 1"], ("axis",)),
    (BOARD.where, ["RR > 0 and AP > 0", "RR > 0 or AP > 0", "0 < RR < 1"], ("more than one",)),
    (NOBODY.pareto, ["RR"], ("no system is left",)),
    (BOARD.priced, [{"small": 0.1}], ("no system was measured on 'small'",)),
    (BOARD.priced, [0.1], ("prices go from instances to numbers",)),
    (lambda x: ON_C6G.priced({"c6g": x}), NO_AMOUNTS, ("'a'", "price_per_hour")),
    (lambda x: ON_C6G.priced({"c6g": 1}, x), [1, b"EUR", ["EUR"]], ("'a'", "currency")),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(OF_RECORDS)))
def test_records(row: int) -> None:
    call, values, facts = OF_RECORDS[row]
    for value in values:
        input_error(lambda value=value: call(value), *facts)


@pytest.mark.parametrize("row", range(len(OF_BOARDS)))
def test_boards(row: int) -> None:
    call, values, facts = OF_BOARDS[row]
    for value in values:
        input_error(lambda value=value: call(value), *facts)


OBJECTS: list[tuple[dict[Any, Any], tuple[str, ...]]] = [
    ({"thruput": 3}, ("thruput", "did you mean throughput?")),
    ({"cost_per_million": 3}, ("'cost_per_million' is not known",)),
    ({"latency": -3}, ("latency", "mean", "-3")),
    ({"latency": "8 ms"}, ("latency",)),
    ({"latency": True}, ("latency",)),
    ({"latency": {"avg": 1}}, ("latency", "avg")),
    ({"hardware": {"ncpu": 4}}, ("ncpu", "did you mean n_cpu?")),
    ({"units": {"latency": "s"}}, ("'units' is not known",)),
    ({3: 4}, ("3",)),
]


@pytest.mark.parametrize(("written", "facts"), OBJECTS, ids=str)
def test_objects(written: dict[Any, Any], facts: tuple[str, ...]) -> None:
    written = {"system": "bm25", **written}
    before = copy.deepcopy(written)
    input_error(lambda: EfficiencyRecord.from_dict(written), "'bm25'", *facts)
    assert written == before


def test_what_is_accepted_at_the_edges(tmp_path: Path) -> None:
    free = [
        name for name, (kind, _) in kinds_of(EfficiencyRecord).items() if kind in (float, Whole)
    ]  # fmt: skip
    zeros = made(**dict.fromkeys(free, 0))
    assert {getattr(zeros, field) for field in free} == {0}
    assert Latency(p50=5, p90=5, p99=5).p90 == 5
    read = EfficiencyRecord.from_dict({"system": "a", "hardware": "c6g", "latency": 8.5})
    assert (read.hardware, read.latency) == (Hardware(instance="c6g"), Latency(mean=8.5))
    assert one({"a": {"RBO": -0.5}}).values("RBO").tolist() == [-0.5]
    assert one(NAMED).systems == ["a"]
    found = Latency.from_samples([1.7e308, 1.6e308, 1.7e308], draws=10)  # their sum is infinite
    assert found.mean == pytest.approx(5 / 3 * 1e308, rel=1e-12)
    with pytest.raises(FileNotFoundError, match=r"nothing\.json"):
        EfficiencyRecord.from_json(tmp_path / "nothing.json")
    with pytest.raises(OSError, match="nowhere"):
        made().to_json(tmp_path / "nowhere" / "a.json")


def test_what_is_handed_in_stays_and_may_change_later() -> None:
    accuracy = {"a": {"RR": {"mean": 0.5, "low": 0.4}}, "b": {"RR": 0.4}, "c": RESULTS}
    records = [*RECORDS, record("c", 2)]
    kept = copy.deepcopy(accuracy["a"]), RESULTS.values.copy()
    board = of(accuracy, records)
    board.pareto(["MRR", "latency"])
    part = board.where("RR > 0.45")
    part.values("RR")[:] = part.bounds("RR")[:] = 7
    assert accuracy["a"] == kept[0]
    assert (RESULTS.values == kept[1]).all()
    records.clear()
    assert (board.systems, board.constraints, board.left_out) == (["a", "b", "c"], [], {})
    assert len(board.records) == 3
    assert board.values("RR").tolist() == [0.5, 0.4, 0.5]
