"""Records and leaderboards of what can't be: InputError that names the system and the field."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import InputWarning
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency
from irbatch.efficiency.record import STATISTICS
from irbatch.leaderboard import Leaderboard

NAN, INF = math.nan, math.inf
NO_NUMBERS = ["x", "1", b"1", "", True, False, 1j, [1], (), {}, object(), 10**400, NAN,
              np.array([1.0, 2.0])]  # fmt: skip
NO_AMOUNTS = [*NO_NUMBERS, INF, -INF, -1, -1e-300]
NO_COUNTS = [*NO_AMOUNTS, 1.5, 0.5]
NO_TEXTS = ["", " ", "\n", 1, 1.5, True, b"x", ["x"], {}]

AMOUNTS = ["throughput", "peak_memory", "model_memory", "index_memory", "model_disk", "index_disk",
           "cpu_used", "wall_time", "user_time", "system_time", "flops", "energy", "emissions",
           "price_per_hour", "stated_cost", "sustained_rate", "sustained_p99", "peak_gpu_memory",
           "children_memory", "children_time", "indexing_time", "indexing_memory"]  # fmt: skip
COUNTS = [
    "n_queries", "batch_size", "warmup", "warmed_queries", "repeat", "throughput_batch_size",
]  # fmt: skip
TEXTS = ["dataset", "source", "start_time", "currency"]

Call = Callable[[], object]


def named(value: object) -> str:
    return f"{type(value).__name__} {str(value)[:12]!r}"


def each(values: list[Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("value", values, ids=named)


# ---------------------------------------------------------------- records


def test_every_field_is_in_the_matrix() -> None:
    others = {"system", "hardware", "latency"}
    assert {field.name for field in fields(EfficiencyRecord)} == {
        *AMOUNTS,
        *COUNTS,
        *TEXTS,
        *others,
    }


@pytest.mark.parametrize("field", AMOUNTS)
@each(NO_AMOUNTS)
def test_amounts(field: str, value: Any) -> None:
    input_error(lambda: EfficiencyRecord(system="bm25", **{field: value}), "'bm25'", field)


@pytest.mark.parametrize("field", COUNTS)
@each(NO_COUNTS)
def test_counts(field: str, value: Any) -> None:
    input_error(lambda: EfficiencyRecord(system="bm25", **{field: value}), "'bm25'", field)


@pytest.mark.parametrize("field", TEXTS)
@each(NO_TEXTS)
def test_texts(field: str, value: Any) -> None:
    input_error(lambda: EfficiencyRecord(system="bm25", **{field: value}), "'bm25'", field)


@pytest.mark.parametrize("field", ["batch_size", "repeat", "hardware"])
def test_fields_that_cannot_be_missing(field: str) -> None:
    input_error(lambda: EfficiencyRecord(system="bm25", **{field: None}), "'bm25'", field)


@pytest.mark.parametrize("field", ["n_queries", "batch_size", "repeat", "throughput_batch_size",
                                   "throughput"])  # fmt: skip
def test_zero(field: str) -> None:
    input_error(lambda: EfficiencyRecord(system="bm25", **{field: 0}), "'bm25'", field, "0")


def test_zero_that_is_a_measurement() -> None:
    free = set(AMOUNTS) - {"throughput"} | {"warmup", "warmed_queries"}
    record = EfficiencyRecord(system="bm25", **dict.fromkeys(free, 0))
    assert {getattr(record, field) for field in free} == {0}


@each([*NO_TEXTS, None, NAN])
def test_systems_without_a_name(value: Any) -> None:
    input_error(lambda: EfficiencyRecord(system=value), "system")
    input_error(lambda: EfficiencyRecord.from_dict({"system": value}), "system")


@pytest.mark.parametrize("field", ["hardware", "latency"])
@each([{}, {"mean": 3}, 3, b"c6g.xlarge", [], NAN])
def test_parts_of_other_types(field: str, value: Any) -> None:
    input_error(lambda: EfficiencyRecord(system="bm25", **{field: value}), "'bm25'", field)
    input_error(lambda: EfficiencyRecord(system="bm25", latency="c6g.xlarge"), "'bm25'", "latency")  # type: ignore[arg-type]


def test_a_text_is_the_hardwares_instance() -> None:
    expected = Hardware(instance="c6g.xlarge")
    assert EfficiencyRecord(system="a", hardware="c6g.xlarge").hardware == expected  # type: ignore[arg-type]
    read = EfficiencyRecord.from_dict({"system": "a", "hardware": "c6g.xlarge"})
    assert read.hardware == expected
    assert EfficiencyRecord.from_dict(read.to_dict()) == read
    for value in ("", " "):
        input_error(
            lambda value=value: EfficiencyRecord(system="a", hardware=value), "'a'", "hardware"
        )
        written = {"system": "a", "hardware": value}
        input_error(lambda written=written: EfficiencyRecord.from_dict(written), "'a'", "hardware")


def test_parts_that_are_exchanged() -> None:
    input_error(lambda: EfficiencyRecord(system="a", latency=Hardware()), "'a'", "latency")
    input_error(lambda: EfficiencyRecord(system="a", hardware=Latency()), "'a'", "hardware")


@each(NO_AMOUNTS)
def test_prices(value: Any) -> None:
    record = EfficiencyRecord(system="bm25", price_per_hour=2)
    input_error(lambda: record.priced(value), "'bm25'", "price_per_hour")
    assert record.price_per_hour == 2


@each([1, b"EUR", ["EUR"]])
def test_currencies(value: Any) -> None:
    record = EfficiencyRecord(system="bm25", price_per_hour=2)
    input_error(lambda: record.priced(1, value), "'bm25'", "currency")


@pytest.mark.parametrize("lookup", [EfficiencyRecord.value, EfficiencyRecord.interval])
@each(["latency_p42", "thruput", "", None, 5, NAN, ["cost"], {}])
def test_quantities_that_there_are_not(
    lookup: Callable[[EfficiencyRecord, Any], object], value: Any
) -> None:
    for latency in (None, Latency(mean=3)):
        record = EfficiencyRecord(system="bm25", latency=latency)
        input_error(lambda record=record: lookup(record, value), "no quantity")


def test_a_misspelt_quantity_is_guessed() -> None:
    record = EfficiencyRecord(system="bm25")
    input_error(lambda: record.value("troughput"), "troughput", "did you mean throughput?")


# ---------------------------------------------------------------- hardware


@pytest.mark.parametrize("field", ["instance", "cpu", "gpu"])
@each(NO_TEXTS)
def test_hardware_texts(field: str, value: Any) -> None:
    input_error(lambda: Hardware(**{field: value}), "hardware", field)


@pytest.mark.parametrize("field", ["n_cpu", "n_gpu"])
@each(NO_COUNTS)
def test_hardware_counts(field: str, value: Any) -> None:
    input_error(lambda: Hardware(**{field: value}), "hardware", field)


@each(NO_AMOUNTS)
def test_hardware_memory(value: Any) -> None:
    input_error(lambda: Hardware(ram_gb=value), "hardware", "ram_gb")


@each(NO_TEXTS)
def test_instances_here(value: Any) -> None:
    input_error(lambda: Hardware.here(value), "hardware", "instance")


# ---------------------------------------------------------------- latency


@pytest.mark.parametrize("field", STATISTICS)
@each(NO_AMOUNTS)
def test_latency_amounts(field: str, value: Any) -> None:
    input_error(lambda: Latency(**{field: value}), "latency", field)


@each([*NO_COUNTS, 0])
def test_latency_calls(value: Any) -> None:
    input_error(lambda: Latency(calls=value), "latency", "calls")


@pytest.mark.parametrize("field", ["loop", "arrivals"])
@each([*NO_TEXTS, "half open", "Poisson"])
def test_loops_and_arrivals(field: str, value: Any) -> None:
    input_error(lambda: Latency(**{"loop": "open", field: value}), "latency", field)


@pytest.mark.parametrize("field", ["rate", "errors", "timeouts"])
@each(NO_AMOUNTS)
def test_numbers_of_open_loops(field: str, value: Any) -> None:
    input_error(lambda: Latency(loop="open", **{field: value}), "latency", field)


@pytest.mark.parametrize("loop", [None, "closed"])
@pytest.mark.parametrize(
    "given", [{"rate": 5}, {"errors": 0}, {"timeouts": 1}, {"arrivals": "fixed"}], ids=str
)
def test_what_only_an_open_loop_has(loop: str | None, given: dict[str, Any]) -> None:
    input_error(lambda: Latency(loop=loop, **given), "latency", next(iter(given)), "open loop")


@pytest.mark.parametrize(
    "stated", [{"p50": 5, "p90": 4}, {"p50": 5, "p99": 4}, {"p90": 1, "p95": 3, "p99": 2}]
)
def test_percentiles_out_of_order(stated: dict[str, float]) -> None:
    input_error(lambda: Latency(**stated), "latency", "more than p")


def test_equal_percentiles() -> None:
    assert Latency(p50=5, p90=5, p99=5).p90 == 5


@each([None, 5, "mean", [("mean", (1, 2))], ["mean"], NAN])
def test_intervals_that_are_no_mapping(value: Any) -> None:
    input_error(lambda: Latency(mean=1, intervals=value), "latency", "interval")
    if value is not None:  # in JSON nothing is known then
        written = {"system": "bm25", "latency": {"mean": 1, "intervals": value}}
        input_error(lambda: EfficiencyRecord.from_dict(written), "'bm25'", "latency", "interval")


@each([None, 5, "ab", [], [1], [1, 2, 3], {1, 2}, {1: 2, 3: 4}, [1, None], [NAN, 1], [0, INF],
       [-1, 2], [2, 1], ["1", 2], [True, 2]])  # fmt: skip
def test_bounds(value: Any) -> None:
    input_error(lambda: Latency(mean=1, intervals={"mean": value}), "latency", "interval of mean")


@each(["p42", "median", "", None, 50, ("mean",)])
def test_intervals_of_other_statistics(value: Any) -> None:
    input_error(lambda: Latency(mean=1, intervals={value: (0, 2)}), "latency", "interval")


LEVELS = [None, "0.05", 0, -0.05, 0.51, 1, NAN, INF, True, [0.05], 1j]


@each(LEVELS)
def test_levels(value: Any) -> None:
    input_error(lambda: Latency(mean=1, level=value), "level")
    input_error(lambda: Latency.from_samples([1, 2], level=value), "level")
    input_error(lambda: Leaderboard({"a": {"RR": 1}}, EfficiencyRecord(system="a"), level=value),
            "level")  # fmt: skip


NO_DRAWS = [None, "10", -1, 1.5, NAN, INF, True, [10]]
RESULTS = irbatch.evaluate({"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": {"d": 1.0}}, "RR")


@pytest.mark.parametrize("name", ["draws", "seed"])
@each(NO_DRAWS)
def test_draws(name: str, value: Any) -> None:
    given: dict[str, Any] = {"draws": 10, name: value}
    input_error(lambda: Latency.from_samples([1.0, 2.0, 3.0], **given), name)
    record = EfficiencyRecord(system="a")
    input_error(lambda: Leaderboard({"a": RESULTS}, record, **given), name)
    input_error(lambda: Leaderboard({"a": {"RR": 1}}, record, **given), name)


@each([None, [], [[]], [[], []], 5 * [[]], "abc", "5", b"5", {}, {"a": 1}, {1.0}, [None], [NAN],
       [1, INF], [-1], [-INF], ["x"], [[1, 2], [3]], [[[1]]], [1j], np.array([1j]), object(),
       [object()], np.array([1, 2], "timedelta64[s]"), np.array(["2024-01-01"], "datetime64[s]"),
       (each for each in [1.0])])  # fmt: skip
def test_samples(value: Any) -> None:
    input_error(lambda: Latency.from_samples(value, draws=10), "latency")


@pytest.mark.parametrize("draws", [0, 10])
def test_samples_whose_sum_is_beyond_float64(draws: int) -> None:
    times = [1.7e308, 1.6e308, 1.7e308]
    found = Latency.from_samples(times, draws=draws)
    assert found.mean == pytest.approx(5 / 3 * 1e308, rel=1e-12)
    assert found.p50 == 1.7e308
    low, high = found.intervals.get("mean", (1.6e308, 1.7e308))
    assert 1.6e308 <= low <= high <= math.nextafter(1.7e308, INF)


def test_the_call_that_is_wrong_is_named() -> None:
    input_error(lambda: Latency.from_samples([1, 2, -3.5]), "latency", "call 2", "-3.5", value=-3.5)
    input_error(lambda: Latency.from_samples([[1, 2], [NAN, 2]]), "latency", "call 0", "nan")


# ---------------------------------------------------------------- JSON of records


@pytest.mark.parametrize(
    ("written", "facts"),
    [
        ({}, ["system"]),
        ({"throughput": 3}, ["system"]),
        ({"system": "bm25", "thruput": 3}, ["'bm25'", "thruput", "did you mean throughput?"]),
        ({"system": "bm25", "throughput": "3"}, ["'bm25'", "throughput", "'3'"]),
        ({"system": "bm25", "throughput": NAN}, ["'bm25'", "throughput", "nan"]),
        ({"system": "bm25", "throughput": {"value": 3}}, ["'bm25'", "throughput"]),
        ({"system": "bm25", "cost_per_million": -3}, ["'bm25'", "cost"]),
        ({"system": "bm25", "cost_per_million": 1, "stated_cost": 2}, ["'bm25'", "stated_cost"]),
        ({"system": "bm25", "batch_size": 0}, ["'bm25'", "batch_size"]),
        ({"system": "bm25", "latency": "3"}, ["'bm25'", "latency", "3"]),
        ({"system": "bm25", "latency": -3}, ["'bm25'", "latency", "mean", "-3"]),
        ({"system": "bm25", "latency": NAN}, ["'bm25'", "latency", "mean", "nan"]),
        ({"system": "bm25", "latency": True}, ["'bm25'", "latency"]),
        ({"system": "bm25", "cost": 3}, ["'bm25'", "cost", "did you mean cost_per_million?"]),
        ({"system": "bm25", "stated_cost": 3}, ["'bm25'", "did you mean cost_per_million?"]),
        ({"system": "bm25", "qps": 3}, ["'bm25'", "qps", "did you mean throughput?"]),
        ({"system": "bm25", "latency_p95": 3}, ["'bm25'", "did you mean latency?"]),
        ({"system": "bm25", "source": 3}, ["'bm25'", "source"]),
        ({"system": "bm25", "latency": [3]}, ["'bm25'", "latency"]),
        ({"system": "bm25", "latency": {"mean": -1}}, ["'bm25'", "latency", "mean"]),
        ({"system": "bm25", "latency": {"avg": 1}}, ["'bm25'", "latency", "avg"]),
        ({"system": "bm25", "latency": {"p96": 1}}, ["'bm25'", "latency", "did you mean p9"]),
        ({"system": "bm25", "latency": {"level": 2}}, ["'bm25'", "latency", "level"]),
        ({"system": "bm25", "hardware": ["c6g"]}, ["'bm25'", "hardware", "c6g"]),
        ({"system": "bm25", "hardware": {"n_cpu": 0.5}}, ["'bm25'", "hardware", "n_cpu"]),
        ({"system": "bm25", "hardware": {"ncpu": 4}}, ["'bm25'", "ncpu", "did you mean n_cpu?"]),
        ({"system": "bm25", "units": ["ms"]}, ["'bm25'", "units"]),
        ({"system": "bm25", "units": {"latency": "s"}}, ["'bm25'", "latency", "'s'", "ms"]),
        ({"system": "bm25", "units": {"peak_memory": "GB"}}, ["'bm25'", "peak_memory", "MB"]),
        ({"system": "bm25", "units": {"latency": None}}, ["'bm25'", "latency"]),
        ({"system": "bm25", "units": {"latency_p95": "s"}}, ["'bm25'", "latency_p95", "ms"]),
        ({"system": "bm25", "units": {"peak_memry": "MB"}},
         ["'bm25'", "unit of 'peak_memry'", "did you mean peak_memory?"]),
        ({"system": "bm25", "units": {"n_queries": "queries"}}, ["'bm25'", "unit of 'n_queries'"]),
        ({"system": "bm25", "currency": "EUR", "units": {"cost_per_million": "USD"}},
         ["'bm25'", "cost_per_million", "EUR"]),
        ({"system": "bm25", 3: 4}, ["'bm25'", "3"]),
    ],
    ids=str,
)  # fmt: skip
def test_objects(written: dict[Any, Any], facts: list[str]) -> None:
    before = copy.deepcopy(written)
    input_error(lambda: EfficiencyRecord.from_dict(written), *facts)
    assert str(written) == str(before)


@each([None, 5, "bm25", [], [("system", "bm25")], {1}])
def test_what_is_no_object(value: Any) -> None:
    input_error(lambda: EfficiencyRecord.from_dict(value), "record")


def test_a_latency_that_is_a_number_is_the_mean() -> None:
    for value in (8, 8.5, 0):
        read = EfficiencyRecord.from_dict({"system": "bm25", "latency": value})
        assert read.latency == Latency(mean=value)


def test_units_that_are_ours() -> None:
    units = {"latency": "ms", "latency_mean": "ms", "latency_p95": "ms", "energy": "J",
             "emissions": "kg CO2eq", "emissions_per_query": "kg CO2eq", "price_per_hour": "USD/h",
             "peak_memory": "MB"}  # fmt: skip
    written = {"system": "bm25", "currency": "USD", "units": units}
    assert EfficiencyRecord.from_dict(written).system == "bm25"


def test_sources_are_read_back() -> None:
    record = EfficiencyRecord(system="bm25", source="Table 2 of a paper")
    assert EfficiencyRecord.from_json(record.to_json()) == record
    assert record.to_dict()["source"] == "Table 2 of a paper"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("{", ["line 1"]),
        ('{"system": "bm25",\n "throughput": }', ["line 2", "column"]),
        ("[1, 2]", ["record", "list"]),
        ("{}", ["system"]),
        ('{"system": "bm25"} {}', ["line 1"]),
        ('{"system": "bm25", "throughput": NaN}', ["'bm25'", "throughput"]),
        ('{"system": "bm25", "throughput": 1e999}', ["'bm25'", "throughput", "finite"]),
        ('{"system": "bm25", "throughput": ' + "1" * 5000 + "}", []),
        ('{"system": "bm25", "flops": 1, "flops": 2}', ["flops", "twice"]),
        ('{"system": "bm25", "latency": {"mean": 1, "mean": 2}}', ["mean", "twice"]),
        ("[" * 100_000, ["nested"]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_texts_that_are_no_records(text: str, facts: list[str], tmp_path: Path) -> None:
    input_error(lambda: EfficiencyRecord.from_json(text), *facts)
    path = tmp_path / "bm25.json"
    path.write_text(text)
    input_error(lambda: EfficiencyRecord.from_json(path), *facts)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe{", b'"bm25"', b"5", b"null", b"\x00"])
def test_files_that_are_no_records(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bm25.json"
    path.write_bytes(data)
    error = input_error(lambda: EfficiencyRecord.from_json(path), "record")
    assert "bm25.json" in str(error) or data in (b'"bm25"', b"5", b"null")


@each([None, 5, b"{}", [], {"system": "bm25"}])
def test_sources_that_are_no_paths(value: Any) -> None:
    input_error(lambda: EfficiencyRecord.from_json(value), "record")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.json"):
        EfficiencyRecord.from_json(tmp_path / "nothing.json")
    with pytest.raises(OSError, match="nowhere"):
        EfficiencyRecord(system="a").to_json(tmp_path / "nowhere" / "a.json")


# ---------------------------------------------------------------- joining


def record(system: str, mean: float | None = None, **more: Any) -> EfficiencyRecord:
    latency = None if mean is None else Latency(mean=mean)
    return EfficiencyRecord(system=system, latency=latency, **more)


ACCURACY = {"a": {"RR": 0.5, "AP": 0.3}, "b": {"RR": 0.4, "AP": 0.4}}
RECORDS = [record("a", 3, price_per_hour=1), record("b", 5, throughput=2)]
BOARD = Leaderboard(ACCURACY, RECORDS)


@each([None, 5, NAN, "a", b"a", [], {}, [None], ["a"], [{"system": "a"}], {"a": None},
       {"a": {"mean": 3}}, [RECORDS]])  # fmt: skip
def test_records_that_are_none(value: Any) -> None:
    input_error(lambda: Leaderboard(ACCURACY, value), "record")


def test_two_records_of_one_system() -> None:
    input_error(lambda: Leaderboard(ACCURACY, [*RECORDS, record("a")]), "two records", "'a'")


def test_records_under_other_names() -> None:
    input_error(lambda: Leaderboard({"a": {"RR": 1}}, {"b": record("a")}), "record", "'a'", "'b'")


@each([None, 5, NAN, "a", b"ab", object()])
def test_results_that_are_none(value: Any) -> None:
    input_error(lambda: Leaderboard(value, RECORDS), "results")


def test_results_of_other_systems() -> None:
    input_error(lambda: Leaderboard({"a": ACCURACY["a"]}, RECORDS), "'b'", "accuracy", "missing")
    input_error(lambda: Leaderboard({}, RECORDS), "'a'", "accuracy", "missing")
    input_error(lambda: Leaderboard([], RECORDS), "'a'", "accuracy", "missing")
    input_error(lambda: Leaderboard(ACCURACY, RECORDS[:1]), "'b'", "record", value="b")
    input_error(lambda: Leaderboard({"A": {}, "b": {}}, RECORDS), "'a'", "accuracy",
            "there are results of 'A' and 'b'")  # fmt: skip
    input_error(lambda: Leaderboard({"bm25": {"RR": 1}, "dense": {}}, [record("bm25s")]),
            "'bm25s'", "there are results of 'bm25' and 'dense'; did you mean bm25?")  # fmt: skip
    input_error(lambda: Leaderboard({}, RECORDS), "there are results of no system")
    names = {f"s{i}": {"RR": 1} for i in range(9)}
    input_error(lambda: Leaderboard(names, RECORDS), "'s0', 's1', 's2', 's3' and 's4'")


def test_results_without_a_name() -> None:
    named = irbatch.evaluate_runs({"q": {"d": 1}}, {"a": {"q": {"d": 1.0}}}, "RR")["a"]
    input_error(lambda: Leaderboard([RESULTS], RECORDS[0]), "no name")
    input_error(lambda: Leaderboard(RESULTS, RECORDS[0]), "no name")
    input_error(lambda: Leaderboard([named, named], RECORDS[0]), "two results", "'a'")
    input_error(lambda: Leaderboard([{"RR": 1}], RECORDS[0]), "no name")
    input_error(lambda: Leaderboard([None], RECORDS[0]), "no name")
    assert Leaderboard(named, RECORDS[0]).systems == ["a"]


@each([None, 5, 0.5, NAN, "RR", [0.5], [("RR", 0.5)], {"RR"}, np.array([0.5]), object()])
def test_accuracy_that_is_none(value: Any) -> None:
    input_error(lambda: Leaderboard({**ACCURACY, "a": value}, RECORDS), "'a'", "accuracy")
    input_error(lambda: Leaderboard({**ACCURACY, "b": value}, RECORDS), "'b'", "accuracy")
    input_error(lambda: Leaderboard({**ACCURACY, "a": value}, RECORDS, measures="RR"), "'a'")


def test_accuracy_without_measures() -> None:
    input_error(lambda: Leaderboard({"a": {}, "b": {}}, RECORDS), "no measure")
    input_error(lambda: Leaderboard({**ACCURACY, "a": {}}, RECORDS), "'a'", "RR", "missing")
    input_error(lambda: Leaderboard({**ACCURACY, "b": {}}, RECORDS), "'b'", "RR", "missing")
    wanted = {"measures": ["RR", "nDCG"]}
    input_error(lambda: Leaderboard(ACCURACY, RECORDS, **wanted), "'a'", "nDCG is missing")


@each([*NO_NUMBERS, None, INF, -INF])
def test_means(value: Any) -> None:
    for stated in (value, {"mean": value}, {"mean": value, "low": 0, "high": 1}):
        if isinstance(stated, dict) and not stated:
            continue
        accuracy = {**ACCURACY, "b": {"RR": 0.1, "AP": stated}}
        input_error(lambda accuracy=accuracy: Leaderboard(accuracy, RECORDS), "'b'", "AP")
        assert accuracy["b"]["AP"] is stated


@pytest.mark.parametrize("bound", ["low", "high"])
@each([*NO_NUMBERS, INF, -INF])
def test_bounds_of_accuracy(bound: str, value: Any) -> None:
    stated = {"mean": 0.5, "low": 0.4, "high": 0.6, bound: value}
    input_error(lambda: Leaderboard({"a": {"RR": stated}}, RECORDS[0]), "'a'", "RR", bound)


@each([{}, {"low": 0.1}, {"low": 0.1, "high": 0.2}, {"mean": 0.5, "std": 1}, {"value": 0.5},
       {"mean": 0.5, "low": 0.6, "high": 0.4}, {"mean": 0.5, None: 1}])  # fmt: skip
def test_shapes_of_accuracy(value: Any) -> None:
    input_error(lambda: Leaderboard({"a": {"RR": value}}, RECORDS[0]), "'a'", "RR")


def test_negative_accuracy_is_a_number() -> None:
    assert Leaderboard({"a": {"RBO": -0.5}}, RECORDS[0]).means.tolist() == [[-0.5]]


@each([5, NAN, [], "", ["RR", None], [None], [["RR"]], [5], ["RR", "nDCG"], "P@1"])
def test_measures_that_there_are_not(value: Any) -> None:
    input_error(lambda: Leaderboard(ACCURACY, RECORDS, measures=value))


@pytest.mark.parametrize("name", ["cost", "latency_p95", "flops"])
def test_measures_called_as_quantities(name: str) -> None:
    input_error(lambda: Leaderboard({"a": {name: 3}}, RECORDS[0]), "measure", name)


@pytest.mark.parametrize("results", [ACCURACY["a"], RESULTS], ids=["means", "Results"])
def test_measures_given_twice(results: Any) -> None:
    input_error(
        lambda: Leaderboard({"a": results}, RECORDS[0], measures=["RR", "RR"]), "RR", "twice"
    )
    if results is RESULTS:
        input_error(
            lambda: Leaderboard({"a": results}, RECORDS[0], measures=["RR", "MRR"]), "twice"
        )


def test_results_without_values() -> None:
    nothing = irbatch.evaluate({"q": {"d": 0}}, {"q": {"d": 1.0}}, "RR", no_relevant="skip")
    input_error(lambda: Leaderboard({"a": nothing}, RECORDS[0]), "'a'", "RR", "nan")


def test_results_of_other_queries() -> None:
    results = {
        "a": irbatch.evaluate({"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": {"d": 1.0}}, "RR"),
        "b": irbatch.evaluate({"q1": {"d": 1}}, {"q1": {"d": 1.0}}, "RR"),
    }
    with pytest.warns(InputWarning, match="different queries"):
        board = Leaderboard(results, RECORDS)
    assert board.n_queries == [2, 1]
    assert board.means.tolist() == [[0.5], [1.0]]
    assert "1 to 2 queries" in board.caption()


# ---------------------------------------------------------------- axes and directions


NO_AXES = ["nDGC", "", "R R", "latency_p42", None, 5, NAN, [], ["RR"], {}, b"RR", object()]


@each(NO_AXES)
def test_axes_that_there_are_not(value: Any) -> None:
    calls: list[Call] = [
        lambda: BOARD.axis(value),
        lambda: BOARD.values(value),
        lambda: BOARD.bounds(value),
        lambda: BOARD.sorted(value),
        lambda: BOARD.pareto([value]),
        lambda: BOARD.pareto(["RR", value]),
    ]
    for call in calls:
        input_error(call, "axis")


@each(["nDGC", "", None, 5, NAN, b"RR", ("RR",)])
def test_mappings_of_axes_that_there_are_not(value: Any) -> None:
    calls: list[Call] = [
        lambda: BOARD.pareto("RR", directions={value: "lower"}),
        lambda: Leaderboard(ACCURACY, RECORDS, directions={value: "lower"}),
    ]
    for call in calls:
        input_error(call, "axis")


def test_a_misspelt_axis_is_guessed() -> None:
    input_error(lambda: BOARD.values("cost_per_milion"), "did you mean cost_per_million?")
    input_error(lambda: BOARD.values("latencies"), "did you mean latency?")
    input_error(lambda: BOARD.values("Q"), "RR, AP")


@each([None, 5, NAN, [], {}, (), ""])
def test_frontiers_of_no_axes(value: Any) -> None:
    input_error(lambda: BOARD.pareto(value), "axis")


@pytest.mark.parametrize("axes", [["RR", "RR"], ["RR", "MRR"], ["latency", "latency_mean"]])
def test_axes_given_twice(axes: list[str]) -> None:
    input_error(lambda: BOARD.pareto(axes), "twice")
    if axes[0] != axes[1]:
        ways = dict(zip(axes, ("lower", "higher"), strict=True))
        input_error(lambda: Leaderboard(ACCURACY, RECORDS, directions=ways), "twice")


@each(["up", "", "Higher", None, 1, -1, True, [], NAN])
def test_directions_that_are_none(value: Any) -> None:
    calls: list[Call] = [
        lambda: Leaderboard(ACCURACY, RECORDS, directions={"RR": value}),
        lambda: BOARD.pareto("RR", directions={"RR": value}),
    ]
    for call in calls:
        input_error(call, "directions", "RR", "'higher'", "'lower'")


@each([5, NAN, "lower", ["RR"], [("RR", "lower")], True])
def test_directions_that_are_no_mapping(value: Any) -> None:
    calls: list[Call] = [
        lambda: Leaderboard(ACCURACY, RECORDS, directions=value),
        lambda: BOARD.pareto("RR", directions=value),
    ]
    for call in calls:
        input_error(call, "directions")


@pytest.mark.parametrize(
    ("axis", "system", "facts"),
    [
        ("qps", "a", ["throughput"]),
        ("price_per_hour", "b", ["price_per_hour"]),
        ("memory", "a", ["peak_memory"]),
        ("cost", "b", ["cost_per_million", "price_per_hour", "latency"]),
        ("throughput_cost_per_million", "a", ["price_per_hour", "throughput"]),
    ],
)
def test_systems_without_a_value(axis: str, system: str, facts: list[str]) -> None:
    compared: list[Call] = [
        lambda: BOARD.pareto(["RR", axis]),
        lambda: BOARD.where(f"{axis} < 5"),
        lambda: BOARD.where("RR > 0", f"{axis} >= 5"),
    ]
    some = np.isnan(BOARD.values(axis)).sum() == 1
    for call in [] if some else compared:
        input_error(call, f"'{system}'", "missing", *facts)
    if some:
        assert BOARD.sorted(axis).systems[-1] == system
        assert BOARD.pareto(["RR", axis]).left_out == {system: [BOARD.axis(axis).name]}
        for call in compared[1:]:
            assert call().left_out[system] == [f"{BOARD.axis(axis).name} is missing"]


def test_systems_that_lack_one_axis_each() -> None:
    told = "no system has a value of each of price_per_hour and throughput"
    input_error(lambda: BOARD.pareto(["price_per_hour", "qps"]), told)


@pytest.mark.parametrize(
    ("made", "axis"),
    [
        (record("a", 1e308, price_per_hour=1e308), "cost_per_million"),
        (record("a", throughput=5e-324, price_per_hour=1), "throughput_cost_per_million"),
    ],
)
def test_values_beyond_float64(made: EfficiencyRecord, axis: str) -> None:
    board = Leaderboard({"a": {"RR": 1}}, made)
    calls: list[Call] = [lambda: board.values(axis), lambda: board.pareto(axis),
                         lambda: board.sorted(axis)]  # fmt: skip
    for call in calls:
        input_error(call, "'a'", axis, "finite")


# ---------------------------------------------------------------- constraints


@each(["", "RR", "RR >", "> 1", "RR = 1", "RR =< 1", "RR > x", "RR > nan", "RR > inf", "RR > 1e999",
       "RR > 1 2", "1 < RR", "RR > 1 > 0", "RR > 0x10", "RR > １", None, 5, NAN, [], ["RR > 1"],
       ("RR", ">", 1), b"RR > 1", {"RR": 1}, True])  # fmt: skip
def test_constraints_that_are_none(value: Any) -> None:
    input_error(lambda: BOARD.where(value))
    input_error(lambda: BOARD.where("RR > 0", value))


@pytest.mark.parametrize("text", ["nDGC > 1", "latency_p42 < 5", "RR AP > 1", "RR < > 1"])
def test_constraints_on_axes_that_there_are_not(text: str) -> None:
    input_error(lambda: BOARD.where(text))


@pytest.mark.parametrize("text", ["RR > 0 and AP > 0", "RR > 0 or AP > 0", "0 < RR < 1"])
def test_several_constraints_in_one(text: str) -> None:
    input_error(lambda: BOARD.where(text), "more than one condition", text)


def test_nobody_is_left() -> None:
    nobody = BOARD.where("RR > 1")
    assert nobody.systems == []
    assert nobody.where("RR > 1").systems == []
    assert nobody.axes == ["RR", "AP"]
    assert nobody.currency == ""
    assert repr(nobody) == "Leaderboard of 0 systems on RR, AP"
    calls: list[Call] = [
        lambda: nobody.pareto("RR"),
    ]
    for call in calls:
        input_error(call, "no system is left")
    assert "Left out by them: a, b" in nobody.caption()


# ---------------------------------------------------------------- what is handed in


def test_nothing_handed_in_is_changed() -> None:
    given: dict[str, Any] = {
        "accuracy": {"a": {"RR": {"mean": 0.5, "low": 0.4, "high": 0.6}}, "b": {"RR": 0.4}},
        "directions": {"MRR": "higher"},
        "axes": ["MRR", "latency"],
        "measures": ["RR"],
    }
    kept = copy.deepcopy(given)
    records = list(RECORDS)
    board = Leaderboard(given["accuracy"], records, directions=given["directions"],
                        measures=given["measures"])  # fmt: skip
    told = board.systems.copy(), board.means.copy(), board.directions.copy()
    board.pareto(given["axes"], directions=given["directions"])
    board.where("RR > 0.45").sorted("RR")
    assert given == kept
    assert records == RECORDS
    assert told[0] == board.systems
    assert (told[1] == board.means).all()
    assert told[2] == board.directions
    assert (board.constraints, board.left_out) == ([], {})


def test_what_is_handed_in_may_change_later() -> None:
    directions = {"RR": "lower"}
    accuracy = copy.deepcopy(ACCURACY)
    records = list(RECORDS)
    board = Leaderboard(accuracy, records, directions=directions)
    directions["RR"] = "higher"
    accuracy["a"]["RR"] = 0
    records.clear()
    assert board.directions == {"RR": "lower"}
    assert board.means.tolist() == [[0.5, 0.3], [0.4, 0.4]]
    assert len(board.records) == 2


def test_results_are_as_they_were() -> None:
    results = irbatch.evaluate_runs(
        {"q1": {"d": 1}, "q2": {"d": 1}}, {"a": {"q1": {"d": 1.0}}, "b": {"q2": {"d": 1.0}}}, "RR"
    )
    kept = {name: each.values.copy() for name, each in results.items()}
    told = {name: json.dumps(each.settings) for name, each in results.items()}
    board = Leaderboard(results, RECORDS, draws=20)
    board.settings["order"] = "changed"
    board.means[:] = 7
    board.intervals[:] = 7
    for name, each in results.items():
        assert (each.values == kept[name]).all()
        assert json.dumps(each.settings) == told[name]


def test_parts_of_a_board_are_its_own() -> None:
    board = Leaderboard(ACCURACY, RECORDS)
    part = board.where("RR > 0")
    part.means[:] = 7
    part.systems.clear()
    part.constraints.append("x")
    part.directions["RR"] = "lower"
    assert board.systems == ["a", "b"]
    assert board.means.tolist() == [[0.5, 0.3], [0.4, 0.4]]
    assert board.constraints == []
    assert board.directions == {}


def test_replaced_records_are_checked_too() -> None:
    input_error(lambda: replace(RECORDS[0], throughput=-1), "'a'", "throughput")
