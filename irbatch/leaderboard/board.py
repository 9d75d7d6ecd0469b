"""The leaderboard: systems with their accuracy and what they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from irbatch.leaderboard.axes import find_axis, list_axes
from irbatch.leaderboard.caption import write_caption
from irbatch.leaderboard.pareto import Pareto, find_dominators, name_dominators
from irbatch.leaderboard.rows import Rows
from irbatch.leaderboard.scores import (
    SCALES,
    Scores,
    scale_values,
    score_dynascore,
)
from irbatch.leaderboard.weights import check_cutoff, check_offsets, check_weights
from irbatch.runtime.checks import check_choice

__all__ = ["Leaderboard"]

Path = str | PathLike[str]

NOISE = 1e-4  # share of the highest performance, below which Dynascore sees no difference


class Leaderboard(Rows):
    """Systems side by side: how accurate they are, and what they take for it.

    Axes are the measures, by any spelling, and the quantities of records: ``"latency_mean"``,
    ``"latency_p50"`` … ``"latency_p99"`` (ms), ``"throughput"`` (queries/s), ``"peak_memory"``,
    ``"model_memory"``, ``"index_memory"``, ``"model_disk"``, ``"index_disk"`` (MB), ``"cpu_used"``
    (cores), ``"flops"``, ``"energy_per_query"`` (J),
    ``"emissions_per_query"`` (kg CO2eq),
    ``"price_per_hour"``, ``"cost_per_million"``, ``"throughput_cost_per_million"``; in short
    ``"latency"``, ``"qps"``, ``"memory"``, ``"cost"``. Of measures and of throughput higher is
    better, of all others lower.

    Args:
        results: of each system, by its name: `Results` of `irbatch.evaluate`, or means by measure,
            ``{"bm25": {"MRR@10": 0.187}}``, perhaps with bounds: ``{"MRR@10": {"mean": 0.187,
            "low": 0.18, "high": 0.19}}``. Named `Results` may stand in a list.
        records: what each system takes, an `EfficiencyRecord` each.
        measures: those shown; default: all that some system has.
        directions: axis to ``"higher"`` or ``"lower"`` (is better), where it isn't as above.
        level: the chance that an interval of accuracy misses.
        draws, seed: of the bootstrap over queries that makes these intervals; 0 draws make none.

    Attributes:
        systems: names, in the order of the rows.
        records: one a system.
        measures: names.
        means: float64 ``(systems, measures)``.
        intervals: float64 ``(systems, measures, 2)``; NaN where there are none.
        n_queries: how many each system's means are of; None where that isn't known.
        settings: how the means came about.
        constraints: what the systems left had to meet.
        left_out: each system that didn't, with the constraints that it broke.

    Raises:
        InputError: naming the system and the field of what is missing or no finite number.

    >>> from irbatch.efficiency import EfficiencyRecord, Latency
    >>> records = [EfficiencyRecord(system="bm25", latency=Latency(mean=8)),
    ...            EfficiencyRecord(system="dense", latency=Latency(mean=30)),
    ...            EfficiencyRecord(system="slow", latency=Latency(mean=90))]
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}, "dense": {"RR@10": 0.33},
    ...                      "slow": {"RR@10": 0.31}}, records)
    >>> board.pareto(["RR@10", "latency"]).dominated_by
    {'slow': ['dense']}
    """

    def pareto(self, axes: Iterable[str], *, directions: Mapping[str, str] | None = None) -> Pareto:
        """Find the systems that no other beats: as good along every axis and better along one.

        Args:
            axes: one or more, as in ``["nDCG@10", "cost_per_million"]``.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.

        Raises:
            InputError: for an axis or a direction that there is not, and naming the system that
                has no value of an axis.
        """
        found = list_axes(axes, self.measures)
        values, signs = self._table([each.name for each in found], directions)
        dominated_by = name_dominators(self.systems, find_dominators(values * signs))
        frontier = [system for system in self.systems if system not in dominated_by]
        return Pareto([each.name for each in found], frontier, dominated_by)

    def dynascore(
        self,
        weights: Mapping[str, float],
        *,
        performance: str | None = None,
        offsets: Mapping[str, float] | None = None,
        directions: Mapping[str, str] | None = None,
        cutoff: float = NOISE,
    ) -> Scores:
        """Score systems as Dynaboard does (Ma et al. 2021, and the code they published).

        Every axis is turned so that higher is better, and its offset added. Its values are divided
        by how much of it goes with a point of performance on average, see
        `irbatch.leaderboard.scores.find_rates`; a system's score is their weighted mean.

        What is published leaves some cases open. Of systems of equal performance the expected rate
        over their orders counts. An axis that does not change wherever performance does has no
        rate: it adds nothing, and is named in `left_out`; so do all but performance where there is
        one system, or all perform alike. Mind that a score depends on which systems are compared.

        Args:
            weights: axis to weight, of any sum.
            performance: the axis that the others are exchanged for; default: the first measure
                that has a weight, or else the first one.
            offsets: axis to what is added to its values: 16 to a memory of which lower is better
                makes it what is left of 16 GB.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.
            cutoff: differences of performance up to this share of the highest are noise.

        Raises:
            InputError: for axes, weights or directions that can't be, and naming the system that
                has no value of an axis.
        """
        check_cutoff(cutoff)
        weights = self._by_axis(weights, "weights")
        weighed = [name for name in weights if name in self.measures]
        main = find_axis(performance or [*weighed, *self.measures][0], self.measures).name
        names = list(weights) if main in weights else [main, *weights]
        values, signs = self._table(names, directions)
        added = check_offsets(self._by_axis(offsets or {}, "offsets"), names)
        return score_dynascore(
            self.systems, names, values * signs + added, names.index(main),
            check_weights(weights, names), cutoff,
        )  # fmt: skip

    def utility(
        self,
        weights: Mapping[str, float],
        *,
        scale: str = "range",
        directions: Mapping[str, str] | None = None,
    ) -> Scores:
        """Score systems by a weighted mean of their axes, brought to one scale.

        Args:
            weights: axis to weight, of any sum.
            scale: ``"range"``: from 0 for the worst system to 1 for the best, 1 for all where they
                are equal; ``"log"``: the same of logarithms, for what spans powers of ten;
                ``"none"``: as they are, negative where lower is better.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.

        Raises:
            InputError: for axes, weights, directions or a scale that can't be, naming the system
                that has no value of an axis, or one that has no logarithm.
        """
        check_choice("scale", scale, SCALES)
        weights = self._by_axis(weights, "weights")
        names = list(weights)
        shares = check_weights(weights, names)
        values, signs = self._table(names, directions)
        parts = scale_values(values, signs, scale, self.systems, names)
        constant = [name for name, column in zip(names, values.T, strict=True)
                    if (column == column[0]).all()]  # fmt: skip
        return Scores("utility", list(self.systems), names, shares, parts, {}, constant)

    def caption(self) -> str:
        """Say how many systems and queries there are, how they were measured, and who is left out.

        >>> from irbatch.efficiency import EfficiencyRecord
        >>> Leaderboard({"bm25": {"RR": 0.5}}, EfficiencyRecord(system="bm25")).caption()
        '1 system.'
        """
        return " ".join(write_caption(self))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html(fragment=True, plots=False)

    def to_text(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a table for a terminal, see `irbatch.leaderboard.report`."""
        return str(_report("text")(self, path=path, **options))

    def to_markdown(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a table in GitHub's Markdown."""
        return str(_report("markdown")(self, path=path, **options))

    def to_latex(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a table for a paper: booktabs, caption and label."""
        return str(_report("latex")(self, path=path, **options))

    def to_html(self, path: Path | None = None, **options: Any) -> str:
        """Return, or also write, a page that stands alone: sortable table and picture."""
        return str(_report("html")(self, path=path, **options))

    def to_csv(self, path: Path | None = None) -> str:
        """Return, or also write, one line a system with every number."""
        return str(_report("csv")(self, path=path))

    def to_json(self, path: Path | None = None) -> str:
        """Return, or also write, everything as JSON, which `from_json` reads."""
        return str(_report("json")(self, path=path))

    def to_pandas(self) -> Any:
        """Return a pandas frame, one row a system.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        return _report("pandas")(self)

    def plot(self, x: str, y: str | None = None, **options: Any) -> Any:
        """Draw systems between two axes and their Pareto frontier.

        Args:
            x: an axis, as in ``"cost_per_million"``.
            y: another; default: the first measure.
            **options: see `irbatch.leaderboard.plots.plot_frontier`.

        Returns:
            matplotlib's axes; ``.figure.savefig("frontier.svg")`` saves the picture.

        Raises:
            InputError: for an axis that there is not, or a system without a value of it.
            ImportError: naming the extra, when matplotlib is not installed.
        """
        from irbatch.leaderboard.plots import plot_frontier

        return plot_frontier(self, x, y, **options)

    @classmethod
    def from_json(cls, source: Path, **options: Any) -> Leaderboard:
        """Read a leaderboard: what `to_json` wrote, or a table that somebody typed.

        Args:
            source: a path, or the JSON itself: ``{"systems": [{"system": "bm25", "accuracy":
                {"MRR@10": 0.187}, "latency": {"mean": 8}, …}, …]}``, where a ``"run"`` may take
                the place of ``"accuracy"``.
            **options: see `irbatch.leaderboard.json_form.read_leaderboard`.

        Raises:
            InputError: naming the system and the field of what can't be.
        """
        from irbatch.leaderboard.json_form import read_leaderboard

        return read_leaderboard(source, **options)


def _report(form: str) -> Any:
    from irbatch.leaderboard import report  # for those who print

    return getattr(report, f"to_{form}")
