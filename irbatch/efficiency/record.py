"""What one system takes to answer queries: time, memory, disk, compute, energy and money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import Any

import irbatch.efficiency.checks as checks
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.interchange.ir_metadata import read_ir_metadata, write_ir_metadata
from irbatch.efficiency.interchange.json_form import fields_to_json, json_to_fields, read_object
from irbatch.efficiency.interchange.trackers import read_codecarbon, read_tirex
from irbatch.efficiency.latency import OPEN, Latency
from irbatch.efficiency.quantities import FORMULAS, quantity_name
from irbatch.errors import InputError, kind_of, shown
from irbatch.report.reported import write_json
from irbatch.runtime.files import written

HOUR = 3600  # seconds
MILLION = 1e6
MILLISECOND = 1e-3  # seconds

TEXTS = ("dataset", "source", "start_time", "currency")
COUNTS = {
    **dict.fromkeys(("n_queries", "batch_size", "repeat", "throughput_batch_size"), 1),
    **dict.fromkeys(("warmup", "warmed_queries"), 0),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class EfficiencyRecord:
    """What a system takes; what wasn't measured is None.

    Attributes:
        system: its name, which joins the record to the system's results.
        dataset: what was searched.
        source: where the numbers were published, if they are not your own.
        hardware: what it ran on, or the name of a provider's instance.
        n_queries: how many queries were timed.
        batch_size: how many queries a call answers.
        warmup: how many calls came before the timed ones.
        warmed_queries: how many of the timed queries these calls had asked already.
        repeat: how often each query was timed.
        latency: of a call, in ms.
        throughput: queries answered in a second.
        throughput_batch_size: how many a call answered then, where that is not `batch_size`.
        sustained_rate: the most queries a second, in an open loop, whose p99 of latency was within
            a bound; see `measure_load`.
        sustained_p99: that bound, in ms.
        peak_memory: the most that the process held, in MB (10⁶ bytes); see `measure_search`.
        peak_gpu_memory, children_memory: the most on its accelerators, and in child processes.
        model_memory, index_memory: what of it these take, in MB.
        model_disk, index_disk: their size on disk, in MB.
        indexing_time, indexing_memory: what building the index took, in s and in MB; see
            `measure_indexing`.
        cpu_used: cores that were busy, on average.
        wall_time, user_time, system_time: of all timed calls, in s.
        children_time: CPU time of child processes in these, user's and system's, in s.
        start_time: when they began, as ISO 8601 writes it.
        flops: floating-point operations of a query.
        energy, emissions: of all timed calls, in J and in kg CO2eq.
        price_per_hour: of the hardware. None is built in: prices are yours to say.
        currency: of prices and costs; where it isn't said, they are shown without one.
        stated_cost: the cost per million queries as it was published, where it is not to be
            computed from the price.

    Raises:
        InputError: naming the system and the field, if a number is negative or not finite, or a
            text is empty.

    >>> record = EfficiencyRecord(system="bm25", latency=Latency(mean=36.0), price_per_hour=0.5)
    >>> record.cost_per_million  # 0.5 / 3600 s * 0.036 s * 1,000,000
    5.0
    """

    system: str
    dataset: str | None = None
    source: str | None = None
    hardware: Hardware = field(default_factory=Hardware)
    n_queries: int | None = None
    batch_size: int = 1
    warmup: int | None = None
    warmed_queries: int | None = None
    repeat: int = 1
    latency: Latency | None = None
    throughput: float | None = None
    throughput_batch_size: int | None = None
    sustained_rate: float | None = None
    sustained_p99: float | None = None
    peak_memory: float | None = None
    peak_gpu_memory: float | None = None
    children_memory: float | None = None
    model_memory: float | None = None
    index_memory: float | None = None
    model_disk: float | None = None
    index_disk: float | None = None
    indexing_time: float | None = None
    indexing_memory: float | None = None
    cpu_used: float | None = None
    wall_time: float | None = None
    user_time: float | None = None
    system_time: float | None = None
    children_time: float | None = None
    start_time: str | None = None
    flops: float | None = None
    energy: float | None = None
    emissions: float | None = None
    price_per_hour: float | None = None
    currency: str | None = None
    stated_cost: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.system, str) or not self.system.strip():
            problem = f"system is {shown(self.system)}, which is no name"
            raise InputError(problem, source="efficiency record", value=self.system)
        source = checks.of_system(self.system)
        if isinstance(self.hardware, str):
            checks.check_text(source, "hardware", self.hardware)
            object.__setattr__(self, "hardware", Hardware(instance=self.hardware))
        checks.check_fields(self, source, texts=TEXTS, counts=COUNTS, quantities=QUANTITY_FIELDS)
        checks.require(source, batch_size=self.batch_size, repeat=self.repeat)
        if self.throughput == 0:
            raise checks.refuse(source, "throughput", "is 0: nothing was answered", 0.0)
        for name, kind in (("hardware", Hardware), ("latency", Latency)):
            value = getattr(self, name)
            if not isinstance(value, kind) and (value is not None or name == "hardware"):
                what = f"is {kind_of(value)}, not of irbatch.efficiency.{kind.__name__}"
                raise checks.refuse(source, name, what, value)

    def __repr__(self) -> str:
        parts = [f"{name}={v!r}" for name, v in self.known().items() if v != DEFAULTS.get(name)]
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def children_cpu_used(self) -> float | None:
        """Cores that child processes kept busy, on average."""
        if self.children_time is None or not self.wall_time:
            return None
        return self.children_time / self.wall_time

    @property
    def cost_per_million(self) -> float | None:
        """Cost of a million queries, one call after the other (latency-bound).

        ``price_per_hour / 3600 s * mean latency / queries a call * 1,000,000``; `stated_cost`,
        where there is one. None where queries waited for others: see `Latency.loop`.
        """
        if self.stated_cost is not None:
            return self.stated_cost
        if self.price_per_hour is None or self.latency is None or self.latency.mean is None:
            return None
        if self.latency.loop == OPEN:
            return None
        seconds = self.latency.mean * MILLISECOND / self.queries_per_call
        return self.price_per_hour / HOUR * seconds * MILLION

    @property
    def queries_per_call(self) -> float:
        """How many queries a timed call answered: fewer than `batch_size`, where some were left."""
        if self.n_queries is None or self.latency is None or self.latency.calls is None:
            return self.batch_size
        return self.n_queries * self.repeat / self.latency.calls

    @property
    def throughput_cost_per_million(self) -> float | None:
        """Cost of a million queries on always busy hardware (throughput-bound); see `FORMULAS`."""
        if self.price_per_hour is None or self.throughput is None:
            return None
        return self.price_per_hour / HOUR / self.throughput * MILLION

    @property
    def energy_per_query(self) -> float | None:
        """Energy of a timed query, in J."""
        return self._per_query(self.energy)

    @property
    def emissions_per_query(self) -> float | None:
        """Emissions of a timed query, in kg CO2eq."""
        return self._per_query(self.emissions)

    def _per_query(self, total: float | None) -> float | None:
        queries = self.n_queries
        return None if total is None or queries is None else total / (queries * self.repeat)

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
        follows = name == "cost_per_million" and self.stated_cost is None
        if not follows or bounds is None or cost is None or not self.latency.mean:
            return None
        low, high = (cost * each / self.latency.mean for each in bounds)
        return low, high

    def priced(self, price_per_hour: float, currency: str | None = None) -> EfficiencyRecord:
        """Return the record with another price, and costs that follow from it."""
        currency = currency or self.currency
        return replace(self, price_per_hour=price_per_hour, stated_cost=None, currency=currency)

    def known(self) -> dict[str, Any]:
        """Return the fields that say something, by name."""
        return checks.only_known(vars(self))

    def _derived(self) -> dict[str, float]:
        """Return the quantities that follow from the fields."""
        return checks.only_known({name: getattr(self, name) for name in FORMULAS})

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as JSON has it; see `to_json`."""
        return fields_to_json(self.known(), self._derived())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> EfficiencyRecord:
        """Make a record of what `to_dict` returned, or of a dictionary written by hand.

        Raises:
            InputError: naming the system and the field, if a value cannot be read.
        """
        return cls(**json_to_fields(values, [each.name for each in fields(cls)]))

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the record as JSON; also write it to `path`, replaced whole or not at all."""
        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, source: str | PathLike[str]) -> EfficiencyRecord:
        """Read what `to_json` wrote, a path or JSON; errors as `from_dict`, or if it is no JSON."""
        return cls.from_dict(read_object(source, "efficiency record"))

    def to_ir_metadata(
        self, path: str | PathLike[str] | None = None, *, more: Mapping[str, Any] | None = None
    ) -> str:
        """Return the record in ir_metadata's form, as YAML; also write it, as `to_json`.

        Args:
            path: where to write it.
            more: what else there is to say: ``{"actor": {"team": "…"}, "research goal": {…}}``;
                where both say something, the record is right.

        Raises:
            InputError: if YAML has no form for a value of `more`.
            ImportError: naming the extra, when PyYAML is not installed.
        """
        return written(write_ir_metadata(self.known(), self._derived(), more), path)

    @classmethod
    def from_ir_metadata(cls, source: Any, *, system: str | None = None) -> EfficiencyRecord:
        """Read ir_metadata: what `to_ir_metadata`, tirex-tracker or a run file's header has.

        Args:
            source: a path of a YAML file or of a run with a header, packed or not; the YAML
                itself, a text of several lines; or the mapping that it holds.
            system: the system's name; default: ``method: name``, or else ``tag``.

        Raises:
            InputError: naming the file, the system and the keys, if something cannot be read.
            ImportError: naming the extra, when PyYAML is not installed.
        """
        return cls(**read_ir_metadata(source, system))

    @classmethod
    def from_tirex(cls, source: Any, *, system: str | None = None) -> EfficiencyRecord:
        """Read what tirex-tracker measured.

        Args:
            source: the file that it exported, or its results, ``handle.results``: measures, or
                their names, to entries with a ``value``, or to the values themselves.
            system: the system's name; results have none, a file may have one.

        Raises:
            InputError: naming system and measure, if something cannot be read; if no name is there.
            ImportError: naming the extra, when a file is read and PyYAML is not installed.
        """
        return cls(**read_tirex(source, system))

    @classmethod
    def from_codecarbon(
        cls, source: Any, *, system: str | None = None, n_queries: int | None = None
    ) -> EfficiencyRecord:
        """Read what codecarbon measured.

        Args:
            source: a path of ``emissions.csv``, of which the last line counts; the
                `EmissionsData` that a tracker has as ``final_emissions_data``, or a mapping with
                the same names.
            system: the system's name; default: codecarbon's name of the project.
            n_queries: how many queries were answered meanwhile.

        Raises:
            InputError: naming file, line, system and column, if something cannot be read.
        """
        return cls(**read_codecarbon(source, system), n_queries=n_queries)


QUANTITY_FIELDS = [each.name for each in fields(EfficiencyRecord) if each.type == "float | None"]
DEFAULTS = {each.name: each.default for each in fields(EfficiencyRecord)} | {"hardware": Hardware()}
