"""What one system takes to answer queries: time, memory, disk, compute, energy and money."""
# ruff: noqa: RUF009 - `told` makes fields

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency.interchange import (
    HIGHER,
    LOWER,
    Count,
    Quantity,
    Whole,
    check_fields,
    field_error,
    list_places,
    list_quantities,
    of_system,
    read_fields,
    read_ir_metadata,
    read_object,
    to_known,
    told,
    write_ir_metadata,
)
from irbatch.errors import ErrorsIn, InputError, did_you_mean, imported, kind_of, printable, shown
from irbatch.report import write_json
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.files import written
from irbatch.runtime.numbers import check_choice, is_number
from irbatch.runtime.sums import exact_mean
from irbatch.statistics.intervals import quantile_ranks
from irbatch.statistics.resampling import check_draws, check_level, draw_column_means

HOUR = 3600  # seconds
MILLION, GIGA = 1e6, 1e9
MILLISECOND = 1e-3  # seconds

CLOSED, OPEN = "closed", "open"  # loops, see `Latency`
ARRIVALS = POISSON, FIXED = "poisson", "fixed"
PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}  # of latency
STATISTICS = ("mean", *PERCENTILES)
ALIASES = {
    "latency": "latency_mean",
    "qps": "throughput",
    "memory": "peak_memory",
    "gpu_memory": "peak_gpu_memory",
    "cost": "cost_per_million",
}


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What a system ran on; what isn't known is None.

    Attributes:
        instance: what a provider calls it, as in ``"c6g.xlarge"``.
        cpu: model of the processor.
        n_cpu: how many of its cores the system could use.
        gpu: model of the accelerator.
        n_gpu: how many of them.
        ram_gb: main memory in GB (10⁹ bytes).

    >>> str(Hardware(instance="c6g.xlarge", n_cpu=4, ram_gb=8))
    'c6g.xlarge, 4 CPU, 8 GB'
    """

    instance: str | None = told("instance")
    cpu: str | None = told("cpu: model")
    n_cpu: Whole | None = told("cpu: number of cores")
    gpu: str | None = told("gpu: model")
    n_gpu: Whole | None = told("gpu: number of gpus")
    ram_gb: float | None = told("ram", "GB")

    def __post_init__(self) -> None:
        check_fields(self, "hardware")

    @classmethod
    def here(cls, instance: str | None = None) -> Hardware:
        """Describe this machine as the system tells it; `instance` is its name at a provider.

        Accelerators are those that torch sees, if it is loaded.

        Raises:
            ImportError: naming the extra, when psutil is not installed.
        """
        psutil = imported("hardware", "efficiency", "psutil")
        torch: Any = sys.modules.get("torch")
        has_gpus = torch is not None and torch.cuda.is_available()
        has_affinity = hasattr(os, "sched_getaffinity")  # the cores that this process may use
        return cls(
            instance=instance,
            cpu=_cpu(),
            n_cpu=len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count(),
            gpu=torch.cuda.get_device_name(0) if has_gpus else None,
            n_gpu=torch.cuda.device_count() if has_gpus else None,
            ram_gb=round(psutil.virtual_memory().total / GIGA, 1),
        )

    def __str__(self) -> str:
        cpu, gpu = self.cpu, self.gpu
        if self.n_cpu is not None:
            named = cpu and not self.instance
            cpu = f"{self.n_cpu} cores of {cpu}" if named else f"{self.n_cpu} CPU"
        if self.n_gpu:
            gpu = f"{self.n_gpu} × {gpu}" if gpu else f"{self.n_gpu} GPU"
        ram = f"{self.ram_gb:.4g} GB" if self.ram_gb is not None else None
        return printable(", ".join(part for part in (self.instance, gpu, cpu, ram) if part))


def _cpu() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine() or None
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(filter(None, names), platform.machine() or None)


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Time of a call in milliseconds: with a batch size of one, that of a query.

    Attributes:
        mean: of all timed calls.
        p50, p90, p95, p99: percentiles, between neighbours linearly.
        intervals: name of a number above to the bounds of its confidence interval; percentiles
            have one where there are calls enough.
        level: the chance that an interval misses.
        calls: how many were timed.
        loop: ``"closed"`` where a call began when the last one had ended; ``"open"`` where queries
            were due at a rate and latency counts from then, so that it contains their waiting for
            each other: see `measure_load`. The two are not to be compared.
        rate: queries a second that were due, on average, in an open loop.
        arrivals: how they were: ``"poisson"`` or ``"fixed"``.
        errors: calls of an open loop that failed. Percentiles count them as longer than all others,
            and have no value where they reach them; the mean is of the others.

    Raises:
        InputError: naming the field, if a number is negative or not finite, or percentiles or
            bounds are out of order.

    >>> Latency.from_samples([4.0, 6.0, 5.0, 25.0], draws=100).p50
    5.5
    """

    mean: float | None = told("mean", "ms", "mean latency")
    p50: float | None = told("p50", "ms", "latency p50")
    p90: float | None = told("p90", "ms", "latency p90")
    p95: float | None = told("p95", "ms", "latency p95")
    p99: float | None = told("p99", "ms", "latency p99")
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    level: float = 0.05
    calls: Count | None = told("calls")
    loop: str | None = told("loop")
    rate: float | None = told("rate", "queries/s", "rate", better=HIGHER)
    arrivals: str | None = told("arrivals")
    errors: Whole | None = told("errors")

    def __post_init__(self) -> None:
        check_level(self.level)
        check_fields(self, "latency")
        with ErrorsIn(source="latency"):
            check_choice("loop", self.loop, (None, CLOSED, OPEN))
            check_choice("arrivals", self.arrivals, (None, *ARRIVALS))
        for name, (low, high) in self.intervals.items():
            if name not in STATISTICS or low > high:
                problem = "is not two bounds in order, of a statistic"
                raise field_error("latency", f"intervals: {shown(name)}", problem, name)
        measured = [name for name in PERCENTILES if getattr(self, name) is not None]
        for lower, upper in pairwise(measured):
            low, high = getattr(self, lower), getattr(self, upper)
            if low > high:
                raise field_error("latency", lower, f"is {low:g}, more than {upper}, {high:g}", low)

    @classmethod
    def from_samples(
        cls, milliseconds: Any, *, level: float = 0.05, draws: int = 2000, seed: int = 0
    ) -> Latency:
        """Summarise timed calls, with intervals for other queries of the same kind.

        The interval of the mean is by the bootstrap, percentile method; of few calls, some of them
        long, it misses more often than it says (of 50 lognormal times, 11 % at a level of 0.05).
        Those of percentiles reach from one of the times to another, by ranks of the binomial
        distribution: they miss with a chance of at most `level` whatever the times' distribution
        is. That takes 6 calls for p50 at a level of 0.05, 36 for p90, 72 for p95 and 368 for p99;
        of fewer, a percentile has no interval. Repeats of a call are of the same queries, so they
        do not count as further calls: 50 queries timed 10 times have no interval of p99.

        Args:
            milliseconds: ``(calls,)`` or, where each was repeated, ``(repeats, calls)``.
            level: the chance that an interval misses.
            draws, seed: of the bootstrap; 0 draws make no intervals, of percentiles neither.

        Raises:
            InputError: if there are no calls, or a time is negative or not finite.
        """
        check_level(level)
        check_draws(draws, seed, least=0)
        times = _as_times(milliseconds)
        repeats, calls = times.shape
        ordered = np.sort(times, axis=None)
        intervals: dict[str, tuple[float, float]] = {}
        if draws and calls > 1:
            drawn = draw_column_means(times, draws, seed)
            low, high = np.quantile(drawn, [level / 2, 1 - level / 2]).tolist()
            intervals["mean"] = low, high
            for name, percent in PERCENTILES.items():
                ranks = quantile_ranks(calls, percent / 100, level)
                if ranks is not None:  # outwards, as the repeats of a call may be all alike
                    ends = ordered[[(ranks[0] - 1) * repeats, ranks[1] * repeats - 1]].tolist()
                    intervals[name] = ends[0], ends[1]
        mean = exact_mean(times.ravel())
        values = find_percentiles(ordered)
        return cls(mean=mean, **values, intervals=intervals, level=level, calls=times.size)


def find_percentiles(ordered: Floats) -> dict[str, Any]:
    """Return percentiles of ascending times by name, where they don't reach infinite ones."""
    n, finite = ordered.size, ordered[np.isfinite(ordered)]
    bounded = np.minimum(ordered, finite[-1:].max(initial=0.0))
    return {
        name: float(np.quantile(bounded, percent / 100))
        for name, percent in PERCENTILES.items()
        if math.ceil(percent / 100 * (n - 1)) < finite.size
    }


def _as_times(milliseconds: Any) -> Floats:
    """Return times as ``(repeats, calls)``."""
    times = np.atleast_2d(to_numpy(milliseconds, "latency"))
    if times.dtype.kind not in "iuf" or times.ndim != 2 or not times.size:
        problem = f"times are {shown(milliseconds)}, not numbers of calls, or of repeats and calls"
        raise InputError(problem, source="latency", value=milliseconds)
    times = times.astype(np.float64)
    for repeat, call in np.argwhere(~(np.isfinite(times) & (times >= 0))).tolist():
        value = float(times[repeat, call])
        problem = f"time {value:g} of call {call} is negative or not finite"
        raise InputError(problem, source="latency", value=value)
    return times


@dataclass(frozen=True, kw_only=True, repr=False)
class EfficiencyRecord:
    """What a system takes; what wasn't measured is None.

    Attributes:
        system: its name, which joins the record to the system's results.
        dataset: what was searched.
        source: where the numbers were published, if they are not your own.
        hardware: what it ran on, or a provider's name of it; `hardware` and `latency` may be
            objects of JSON, too.
        n_queries: how many queries were timed.
        batch_size: how many queries a call answers.
        warmup: how many calls came before the timed ones.
        repeat: how often each query was timed.
        latency: of a call; a number is its mean, in ms.
        throughput: queries answered in a second.
        peak_memory: the most that the process held, in MB (10⁶ bytes); see `measure_search`.
        peak_gpu_memory: the most on its accelerators.
        model_memory, index_memory: what of it these take, in MB.
        model_disk, index_disk: their size on disk, in MB.
        indexing_time, indexing_memory: what building the index took, in s and in MB.
        cpu_used: cores that were busy, on average.
        wall_time: of all timed calls, in s.
        flops: floating-point operations of a query.
        energy, emissions: of all timed calls, in J and in kg CO2eq.
        price_per_hour: of the hardware. None is built in: prices are yours to say.
        currency: of prices and costs; where it isn't said, they are shown without one.

    Raises:
        InputError: naming the system and the field, if a number is negative or not finite, or a
            text is empty.

    >>> record = EfficiencyRecord(system="bm25", latency=Latency(mean=36.0), price_per_hour=0.5)
    >>> record.cost_per_million  # 0.5 / 3600 s * 0.036 s * 1,000,000
    5.0
    """

    system: str = told("method: name", default=MISSING)
    dataset: str | None = told("data: test collection: name")
    source: str | None = told("data: source")
    hardware: Hardware = field(default_factory=Hardware)
    n_queries: Count | None = told("queries: number")
    batch_size: Count = told("queries: batch size", default=1)
    warmup: Whole | None = told("queries: warm-up calls")
    repeat: Count = told("queries: repeats", default=1)
    latency: Latency | None = told(unit="ms")
    throughput: float | None = told("throughput: value", "queries/s", "throughput", better=HIGHER)
    peak_memory: float | None = told("ram: used process: max", "MB", "peak memory")
    peak_gpu_memory: float | None = told("memory: gpu", "MB", "peak GPU memory")
    model_memory: float | None = told("memory: model", "MB", "model in memory")
    index_memory: float | None = told("memory: index", "MB", "index in memory")
    model_disk: float | None = told("disk: model", "MB", "model on disk")
    index_disk: float | None = told("disk: index", "MB", "index on disk")
    indexing_time: float | None = told("runtime: indexing", "s", "indexing time")
    indexing_memory: float | None = told("memory: indexing", "MB", "peak memory of indexing")
    cpu_used: float | None = told("compute: cores used", "cores", "CPU used")
    wall_time: float | None = told("runtime: wallclock", "s")
    flops: float | None = told("compute: flops", "FLOPs/query", "FLOPs")
    energy: float | None = told("energy", "J")
    emissions: float | None = told("emissions", "kg CO2eq")
    price_per_hour: float | None = told("cost: price per hour", "{currency}/h", "price")
    currency: str | None = told("cost: currency")

    def __post_init__(self) -> None:
        if isinstance(self.hardware, str):
            object.__setattr__(self, "hardware", {"instance": self.hardware})
        if is_number(self.latency):
            object.__setattr__(self, "latency", {"mean": self.latency})
        check_fields(self, of_system(self.system))

    def __repr__(self) -> str:
        defaults = {field.name: field.default for field in fields(self)} | {"hardware": Hardware()}
        parts = [f"{name}={v!r}" for name, v in vars(self).items() if v != defaults[name]]
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def cost_per_million(self) -> float | None:
        """Cost of a million queries, one call after the other (latency-bound).

        ``price_per_hour / 3600 s * mean latency / queries a call * 1,000,000``. None where queries
        waited for others: see `Latency.loop`.
        """
        latency, price = self.latency, self.price_per_hour
        if latency is None or latency.mean is None or latency.loop == OPEN or price is None:
            return None
        queries = float(self.batch_size)
        if self.n_queries is not None and latency.calls is not None:  # the last call may be short
            queries = self.n_queries * self.repeat / latency.calls
        return price / HOUR * (latency.mean * MILLISECOND / queries) * MILLION

    @property
    def energy_per_query(self) -> float | None:
        """Energy of a timed query, in J."""
        return self._per_query(self.energy)

    @property
    def emissions_per_query(self) -> float | None:
        """Emissions of a timed query, in kg CO2eq."""
        return self._per_query(self.emissions)

    def _per_query(self, total: float | None) -> float | None:
        if total is None or self.n_queries is None:
            return None
        return total / (self.n_queries * self.repeat)

    def value(self, name: str) -> float | None:
        """Return a quantity by its name, as ``"latency_p95"``; `InputError` if there is none."""
        name = quantity_name(name)
        if name.startswith("latency_"):
            return getattr(self.latency, name.removeprefix("latency_"), None)
        return getattr(self, name)

    def interval(self, name: str) -> tuple[float, float] | None:
        """Return the confidence interval of a quantity, by its name as in `value`; None without.

        Latencies have them, and with them the costs that follow from their mean.
        """
        name = quantity_name(name)
        if self.latency is None:
            return None
        if name.startswith("latency_"):
            return self.latency.intervals.get(name.removeprefix("latency_"))
        bounds, cost = self.latency.intervals.get("mean"), self.cost_per_million
        if name != "cost_per_million" or bounds is None or cost is None or not self.latency.mean:
            return None
        low, high = (cost * bound / self.latency.mean for bound in bounds)
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, and ``derived`` what follows from it, as JSON has it."""
        return to_known({**vars(self), "derived": {name: getattr(self, name) for name in DERIVED}})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> EfficiencyRecord:
        """Make a record of what `to_dict` returned, or of a dictionary written by hand.

        Raises:
            InputError: naming the system and the field, if a value cannot be read.
        """
        if not isinstance(values, Mapping):
            problem = f"a record is an object, not {kind_of(values)}"
            raise InputError(problem, source="efficiency record", value=values)
        own = {key: value for key, value in values.items() if key != "derived"}
        with ErrorsIn(source=of_system(values.get("system"))):
            return read_fields(cls, own)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the record as JSON; also write it to `path`, replaced whole or not at all."""
        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> EfficiencyRecord:
        """Read what `to_json` wrote, a path or JSON; errors as `from_dict`, or if it isn't JSON."""
        return cls.from_dict(read_object(source, "efficiency record"))

    def to_ir_metadata(self, path: str | PathLike[str] | None = None) -> str:
        """Return the record in ir_metadata's form, as YAML; also write it, as `to_json`.

        It has no intervals of latencies.

        Raises:
            ImportError: naming the extra, when PyYAML is not installed.
        """
        return written(write_ir_metadata(self.to_dict(), PLACES), path)

    @classmethod
    def from_ir_metadata(
        cls, source: str | PathLike[str], *, system: str | None = None
    ) -> EfficiencyRecord:
        """Read ir_metadata: what `to_ir_metadata` wrote, or a run file's header has.

        Args:
            source: a path of a YAML file or of a run with a header, packed or not; or the YAML
                itself, a text of several lines.
            system: the system's name; default: ``method: name``, or else ``tag``.

        Raises:
            InputError: naming the file, the system and the keys, if something cannot be read.
            ImportError: naming the extra, when PyYAML is not installed.
        """
        return cls.from_dict(read_ir_metadata(source, system, PLACES))


DERIVED = {  # quantities that follow from fields of a record
    quantity.name: quantity
    for quantity in (
        Quantity("energy_per_query", "J", LOWER, "energy per query"),
        Quantity("emissions_per_query", "kg CO2eq", LOWER, "emissions per query"),
        Quantity("cost_per_million", "{currency}", LOWER, "cost per million queries"),
    )
}
QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        *list_quantities(Latency, "latency_"),
        *list_quantities(EfficiencyRecord),
        *DERIVED.values(),
    )
}
PLACES = {
    **list_places(EfficiencyRecord, "resources: "),
    **list_places(Hardware, "platform: hardware: ", "hardware."),
    **list_places(Latency, "resources: latency: ", "latency."),
}


def quantity_name(name: object) -> str:
    """Return a quantity's own name for any that it is known by."""
    own = ALIASES.get(name, name) if isinstance(name, str) else name
    if not isinstance(own, str) or own not in QUANTITIES:
        problem = f"there is no quantity {shown(name)}{did_you_mean(name, [*QUANTITIES, *ALIASES])}"
        raise InputError(problem, value=name)
    return own
