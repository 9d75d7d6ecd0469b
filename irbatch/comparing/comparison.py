"""A comparison of systems: its numbers, with the forms that they are reported in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irbatch.comparing.differences import Differences
from irbatch.comparing.gate import Outcome, check, failed
from irbatch.comparing.report import (
    count_significant,
    legend_of,
    list_everything,
    list_means,
    list_pairs,
    tabulate_means,
    tabulate_pairs,
    tell_how,
    tell_test,
)
from irbatch.errors import many, printable
from irbatch.report.document import DAGGERS, Document, Heading, Part, Record, Sentences
from irbatch.report.numbers import check_digits
from irbatch.report.reported import Reported

FEW_PAIRS = 6  # that are listed though there is no baseline


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Reported, Differences):
    """What `irbatch.compare` returns: numbers, and reports of them in every form.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals of means and differences (default: 4); `intervals`, whether means come with
    theirs (False); `judged`, whether they stand beside the share of documents that are judged, up
    to each cutoff (False); `pairs`, whether the
    table of pairs follows, by default where there is a baseline, of few pairs, and on a page: in
    LaTeX it is written in place of the means, and only if asked for; `power`, whether it tells of
    each pair which difference these queries could have shown and how many queries the observed one
    takes, with a power of 0.8 (False), which takes SciPy; `sort`, the measure by whose means
    systems stand, from the best on, on a page the first one, else as they were given; `daggers`,
    whether † and ‡ mark what is significantly better and worse than the baseline, in place of
    arrows (False). On a page: `plots` of differences (True), which take matplotlib, and `pair`, the
    two systems whose differences are plotted query by query; by default the best of the first
    measure and the baseline, or else the second best.

    `to_csv` and frames have one line a group, measure and pair, or with the option ``means=True``
    a group, measure and system; the group of all queries has no name. They, `to_dict` and `to_json`
    have the option `power`, too, and the last two `per_query`, whether they have the values of
    every query (True), and `gates`, what `irbatch.comparing.gate.check` returned.

    Attributes:
        systems, measures: names, in the order given.
        query_ids: the queries compared, those that all systems have values for.
        baseline: the system that all others are compared with, or None: all with all.
        pairs: positions (a, b) in `systems`; a is compared with b.
        values: float64 ``(systems, queries, measures)``.
        means: float64 ``(systems, measures)``; `intervals` has one axis more, for two bounds.
        differences: float64 ``(pairs, measures)``, the mean of a less that of b; and so
            `difference_intervals` (two bounds more), `effects`, `p_values`, `corrected`. Intervals
            and effects are NaN where the difference is the same in every query.
        wins, ties, losses: int64 ``(pairs, measures)``.
        judged: cutoff to the share of each query's documents up to it that are judged, float64
            ``(systems, queries)``, NaN of queries without a ranking; `judged_shares` are their
            means. Empty where that isn't known.
        test, alternative, correction, family, level, interval, simultaneous, draws, seed, margin,
            margin_test: as they were asked for.
        least_p: the least corrected p-value that could come out, however clear the differences.
        settings: how the values and the comparison came about.
        missing: system to the queries that others have and it has not: they are left out.
        unanswered: system to the queries it has no ranking for, which count 0.
        groups: a comparison of each group of queries, by name.
        alone: the groups of one query, which `groups` lacks.
    """

    _label: ClassVar[str] = "tab:comparison"

    def __repr__(self) -> str:
        return (
            f"Comparison of {', '.join(map(printable, self.systems))} on {', '.join(self.measures)}"
        )

    def failures(self, *conditions: str | Iterable[str]) -> list[str]:
        """Say in a sentence each of which systems conditions hold: ``"nDCG@10 drops 1% p<0.05"``.

        For a test of a release: ``assert not comparison.failures(…)``.

        Args:
            *conditions: ``MEASURE drops|rises|changes|worsens|improves [AMOUNT[%]] [p<LEVEL]``,
                against the baseline, p being corrected; or
                ``MEASURE [lower bound|upper bound] < NUMBER``, of any mean but the baseline's, or
                of an end of its interval, or ``missing queries > NUMBER``. ``in GROUP:`` before it
                looks at a group of queries, ``in every group:`` at each. One of one query fails.

        Raises:
            InputError: if there is none; or one is not of this form, can never hold, holds of what
                is good, or takes a baseline and there is none.
        """
        return failed(check(self, conditions, required=False))

    def unmet(self, *requirements: str | Iterable[str]) -> list[str]:
        """Say in a sentence which systems don't meet ``"nDCG@10 not worse than baseline by 1%"``.

        ``assert not comparison.unmet(…)`` fails unless the data show it: few queries don't pass.

        Args:
            *requirements: ``MEASURE not worse [than BASELINE] by AMOUNT[%] [p<LEVEL]``: the
                corrected p of `not_worse_than` is below the level, by default the comparison's; or
                ``MEASURE [lower bound|upper bound] >= NUMBER[%]``. Groups as in `failures`.

        Raises:
            InputError: as `failures`, and if a requirement can never be met, or always is.
        """
        return failed(check(self, requirements, required=True))

    def caption(self) -> str:
        """Say how systems were compared, and what the means hide."""
        return tell_how(self)

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Plot each pair's difference with its interval; see `irbatch.comparing.plots` for others.

        Args:
            measure: which; default: the first.
            ax: matplotlib's axes to draw on; default: those of a new figure.

        Returns, Raises: as `irbatch.Results.plot`.
        """
        from irbatch.comparing.plots import plot_forest

        return plot_forest(self, self.measures[0] if measure is None else measure, ax=ax)

    def _document(
        self,
        form: str,
        *,
        digits: int = 4,
        intervals: bool = False,
        pairs: bool | None = None,
        judged: bool = False,
        power: bool = False,
        daggers: bool = False,
        plots: bool = True,
        pair: tuple[str, str] | None = None,
        sort: str | None = None,
    ) -> Document:
        check_digits(digits)
        page, paper = form == "html", form == "latex"
        figures: list[Part] = []
        if page and plots:
            from irbatch.comparing.plots import plot_figures  # for those who write pages

            figures += plot_figures(self, pair)
        few = self.baseline is not None or len(self.pairs) <= FEW_PAIRS
        default = not paper and (few or form in ("html", "notebook"))
        listed = bool(self.pairs) and (default if pairs is None else pairs)
        means = not (paper and pairs)
        sort = self.measures[0] if sort is None and page else sort
        parts: list[Part] = []
        for name, each in (("all queries", self), *self.groups.items()):
            if self.groups:
                parts.append(Heading(f"{name} ({many(len(each.query_ids), 'query')})"))
            if means:
                parts.append(tabulate_means(each, digits, intervals, judged, sort))
            parts += figures if each is self else []
            if listed:
                parts.append(tabulate_pairs(each, digits, power))
            elif each.pairs and pairs is None and not paper:
                parts.append(Sentences([count_significant(each)]))
        title = f"Comparison of {many(len(self.systems), 'system')}"
        caption = tell_how(self, means=intervals, differences=listed)
        legend, note = legend_of(self) if means else [], tell_test(self) if self.pairs else ""
        document = Document(title, caption, legend, parts, self.signature, note and f"{note}.")
        return document.renamed({}, DAGGERS) if daggers else document

    def _everything(
        self, *, per_query: bool = True, power: bool = False, gates: Sequence[Outcome] = ()
    ) -> Record:
        judged = {"gates": [each._asdict() for each in gates]} if gates else {}
        return {**list_everything(self, per_query, power), **judged}

    def _records(
        self, *, means: bool = False, power: bool = False
    ) -> tuple[list[str], list[Record]]:
        groups = (("", self), *self.groups.items())
        listed = [list_means(each) if means else list_pairs(each, power) for _, each in groups]
        records = [
            {"group": str(name), **record}
            for (name, _), (_, found) in zip(groups, listed, strict=True)
            for record in found
        ]
        return ["group", *listed[0][0]], records
