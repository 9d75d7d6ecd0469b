"""The leaderboard: systems with their accuracy and what they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

from irbatch.comparing.gate import each_condition
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.leaderboard.axes import list_axes
from irbatch.leaderboard.document import make_document, picture_frontier
from irbatch.leaderboard.gate import find_failures
from irbatch.leaderboard.json_form import board_to_dict, read_board
from irbatch.leaderboard.plots import plot_frontier
from irbatch.leaderboard.records import list_systems, make_frame
from irbatch.leaderboard.scores import Scores
from irbatch.leaderboard.scoring import score_dynascore, score_utility
from irbatch.leaderboard.studied import StudiedSystems
from irbatch.report.document import Document, Record
from irbatch.report.reported import Path, Reported

NOISE = 1e-4  # share of the highest performance, below which Dynascore sees no difference


class Leaderboard(Reported, StudiedSystems):
    r"""Systems side by side: how accurate they are, and what they take for it.

    Axes are the measures, by any spelling, and the quantities of records, which
    `irbatch.efficiency.QUANTITIES` has with their units: ``"latency_mean"``, ``"latency_p50"`` …
    ``"latency_p99"`` (ms), ``"throughput"`` (queries/s), ``"peak_memory"``, ``"index_disk"`` (MB),
    ``"cpu_used"`` (cores), ``"indexing_time"`` (s), ``"cost_per_million"`` and others; in short
    ``"latency"``, ``"qps"``, ``"memory"``, ``"gpu_memory"``, ``"cost"``. Of throughput, the
    sustained rate and measures, but those that say otherwise, higher is better; of all others
    lower.

    Args:
        results: of each system, by its name: `Results` of `irbatch.evaluate`, or means by measure,
            ``{"bm25": {"MRR@10": 0.187}}``, perhaps with bounds: ``{"MRR@10": {"mean": 0.187,
            "low": 0.18, "high": 0.19}}``. Named `Results` may stand in a list.
        records: what each system takes, an `EfficiencyRecord` or a `Measurement` each; several of
            a system that was measured on several instances, which have a row each and share its
            results.
        measures: those shown; default: all that some system has. What a system lacks is shown as
            ``–``, and said in a warning.
        directions: axis to ``"higher"`` or ``"lower"`` (is better), where it isn't as above.
        level: the chance that an interval of accuracy misses.
        draws, seed: of a bootstrap over queries; 0 draws: no intervals.
        interval: how they are made: by Student's ``"t"``, or by bootstrap, ``"percentile"`` or
            ``"bca"``.

    Attributes:
        systems: names, in the order of the rows; of several rows of a system with the instance,
            ``"dense on c6g.xlarge"``.
        records: one a row.
        measures: names.
        means: float64 ``(systems, measures)``.
        intervals: float64 ``(systems, measures, 2)``; NaN where there are none.
        n_queries: how many each system's means are of; None where that isn't known.
        settings: how the means came about.
        constraints: what the systems left had to meet.
        left_out: each system that didn't, with the constraints that it broke, or the axes that it
            has no value of.
        significance, stability: what `tested` and `resampled` found; None before, and of fewer
            systems than that was of.

    Raises:
        InputError: naming the system and the field, if a value is not a finite number, or a system
            has none of the measures.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `columns`,
    axes by any of their names, ``"hardware"`` or of it ``"instance"``, ``"cpu"``, ``"gpu"``,
    ``"n_cpu"``, ``"n_gpu"``, ``"ram"``, ``"batch_size"`` or ``"source"`` (default: the hardware,
    batch size and source where they differ, all measures, and the usual quantities that some system
    has); what `tested` and `resampled` found stands there in any case; `frontier`, axes whose
    Pareto frontier is marked; `intervals`, whether values come with theirs (False); `digits`, how
    many decimals measures have (4), typed ones no more than were typed, where quantities have four
    significant digits. On a page: `plots`, whether there is a picture of the frontier (True), which
    takes matplotlib; `x`, the axis across it (default: that of a `frontier` of two axes; or else
    the cost, the mean latency or the median, the first that all systems have, or some; without any
    there is no picture); `y`, the axis along it (default: the first measure).

    `to_csv` and frames have one line a system: its hardware, its values, bounds and calls; what
    isn't known is empty. `from_json` reads what `to_json` wrote.

    >>> from irbatch.efficiency import EfficiencyRecord, Latency
    >>> records = [EfficiencyRecord(system="bm25", latency=Latency(mean=8)),
    ...            EfficiencyRecord(system="dense", latency=Latency(mean=30)),
    ...            EfficiencyRecord(system="slow", latency=Latency(mean=90))]
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}, "dense": {"RR@10": 0.33},
    ...                      "slow": {"RR@10": 0.31}}, records)
    >>> board.pareto(["RR@10", "latency"]).dominated_by
    {'slow': ['dense']}
    >>> print(board.to_csv().partition("\n")[0])
    system,instance,cpu,n_cpu,gpu,n_gpu,ram_gb,RR@10,latency_mean,batch_size,repeat
    """

    _label = "tab:leaderboard"

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
        `irbatch.leaderboard.scoring.find_rates`; a system's score is their weighted mean.

        What is published leaves some cases open. Of systems of equal performance the expected rate
        over their orders counts. An axis that does not change wherever performance does has no
        rate: it adds nothing, and is named in `left_out`; so do all but performance where all
        perform alike. A score depends on which systems are compared.

        Args:
            weights: axis to weight, of any sum.
            performance: the axis that the others are exchanged for; default: the first measure
                that has a weight, or else the first one.
            offsets: axis to what is added to its values: 16 to a memory of which lower is better
                makes it what is left of 16 GB.
            directions: axis to ``"higher"`` or ``"lower"``, where it isn't the leaderboard's.
            cutoff: differences of performance up to this share of the highest are noise.

        Raises:
            InputError: if a weight is negative or none is above 0; naming the system, if one has no
                value of an axis.
        """
        return score_dynascore(self, weights, performance, offsets, directions, cutoff)

    def utility(
        self,
        weights: Mapping[str, float],
        *,
        scale: str = "range",
        directions: Mapping[str, str] | None = None,
    ) -> Scores:
        """Score systems by a weighted mean of their axes, brought to one scale.

        Args:
            weights, directions: as in `dynascore`.
            scale: ``"range"``: from 0 for the worst system to 1 for the best, 1 for all where they
                are equal; ``"log"``: the same of logarithms, for what spans powers of ten;
                ``"none"``: as they are, negative where lower is better.

        Raises:
            InputError: as `dynascore`; and naming the system of a value that has no logarithm.
        """
        return score_utility(self, weights, scale, directions)

    def failures(self, *conditions: str | Iterable[str]) -> list[str]:
        """Say in a sentence each of which systems conditions hold: ``"latency_p95 > 50"``.

        Args:
            *conditions: AXIS [lower bound|upper bound] > NUMBER, or ``dominated on AXIS, AXIS``;
                ``of SYSTEM:`` before it looks at one. A system without a value fails.

        Raises:
            InputError: if there is none, or one has another form, can never hold, or holds of what
                is good; or if no system is left.
        """
        return self._check(conditions, required=False)

    def unmet(self, *requirements: str | Iterable[str]) -> list[str]:
        """Say so of systems that don't meet ``"RR@10 >= 0.3"``, or ``not dominated on …``."""
        return self._check(requirements, required=True)

    def _check(self, given: Iterable[object], *, required: bool) -> list[str]:
        found = (find_failures(self, each, required=required) for each in each_condition(given))
        return [said for some in found for said in some]

    def to_pandas(self) -> Any:  # type: ignore[override]
        """Return a pandas frame: one row a system, the columns of `to_csv`.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        return make_frame(self)

    def plot(
        self,
        x: str,
        y: str | None = None,
        *,
        log: bool | None = None,
        intervals: bool = True,
        labels: bool = True,
        directions: Mapping[str, str] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw systems between two axes and their Pareto frontier; return matplotlib's axes.

        ``.figure.savefig("frontier.svg")`` of what returns saves the picture.

        Args:
            x: an axis, as in ``"cost_per_million"``.
            y: another; default: the first measure.
            log, intervals, labels, directions, ax: see `irbatch.leaderboard.plots.plot_frontier`.

        Raises:
            InputError: naming the system, if one has no value of an axis.
            ImportError: naming the extra, when matplotlib is not installed.
        """
        options: dict[str, Any] = {"intervals": intervals, "labels": labels, "ax": ax}
        return plot_frontier(self, x, y, log=log, directions=directions, **options)

    @classmethod
    def from_json(
        cls,
        source: Path,
        *,
        qrels: Judgments | None = None,
        measures: Measures | None = None,
        cutoffs: Cutoffs = None,
        level: float = 0.05,
        draws: int = 2000,
        seed: int = 0,
        interval: str = "t",
        directions: Mapping[str, str] | None = None,
        **settings: Unpack[EvaluateOptions],
    ) -> Self:
        """Read a leaderboard: what `to_json` wrote, or a table that was typed.

        `irbatch.leaderboard.json_form` tells what may stand in it.

        Args:
            source: a path, or the JSON itself, whose runs' paths start from the current folder.
            qrels: judgments in any form of `irbatch.evaluate`. With them the runs are evaluated,
                and accuracy that is stated counts where there is no run.
            measures: those shown, or with `qrels` those evaluated; default: all that some have;
                with `qrels` they must be given.
            cutoffs: of those evaluated, as in `irbatch.evaluate`.
            level, draws, seed, interval: as of `Leaderboard`, with `qrels`; without, the level is
                the JSON's.
            directions: axis to ``"higher"`` or ``"lower"``, before what the JSON says.
            **settings: of `irbatch.evaluate`, with `qrels`.

        Raises:
            InputError: naming the system and the field, if a value is missing or of another kind.
            OSError: as the system says, if the file can't be read.

        >>> board = Leaderboard.from_json('''[
        ...     {"system": "bm25", "accuracy": {"RR@10": 0.187}, "latency": {"mean": 8}},
        ...     {"system": "dense", "accuracy": {"RR@10": 0.33}, "latency": {"mean": 30}}]''')
        >>> board.pareto(["RR@10", "latency"]).frontier
        ['bm25', 'dense']
        """
        check_settings(cls.from_json, settings)
        given: dict[str, Any] = {**settings, **({} if cutoffs is None else {"cutoffs": cutoffs})}
        drawn = {"level": level, "draws": draws, "seed": seed, "interval": interval}
        return read_board(cls, source, qrels, measures, directions, given, **drawn)

    def _document(
        self,
        form: str,
        *,
        columns: Iterable[str] | None = None,
        frontier: Iterable[str] | None = None,
        intervals: bool = False,
        digits: int = 4,
        plots: bool = True,
        x: str | None = None,
        y: str | None = None,
    ) -> Document:
        if frontier is not None:
            frontier = [axis.name for axis in list_axes(frontier, self.measures)]
        document = make_document(self, columns, frontier, intervals, digits)
        if form != "html" or not plots:
            return document
        pictures = picture_frontier(self, x, y, frontier, digits)
        return replace(document, parts=[*document.parts, *pictures])

    def _everything(self) -> Record:
        return board_to_dict(self)

    def _records(self) -> tuple[Sequence[str], Iterable[Record]]:
        return list_systems(self)
