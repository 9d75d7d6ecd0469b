"""A comparison of systems: everything that is known of their differences, in one object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from irbatch.comparing.compared import Compared
from irbatch.comparing.gate import each_condition, judge_comparison, parse_condition
from irbatch.comparing.records import list_everything, list_means, list_pairs
from irbatch.comparing.tables import make_document
from irbatch.comparing.wording import say, say_all, tell_how
from irbatch.report.document import DAGGERS, Document, Record, without_marks
from irbatch.report.reported import Path, Reported, make_pandas, make_polars, write_csv


class Comparison(Reported, Compared):
    """What `irbatch.compare` returns: numbers, and reports of them in every form.

    Reports for people (`to_text`, `to_markdown`, `to_latex`, `to_html`) have as options: `digits`,
    how many decimals of means and differences (default: 4); `intervals`, whether means come with
    theirs (False); `judged`, whether they stand beside the share of documents that are judged, up
    to each cutoff, and the queries that have an unjudged one there (False); `pairs`, whether the
    table of pairs follows, but for a paper (True); `power`, whether it tells of each pair which
    difference these queries could have shown and how many queries the observed one takes, with a
    power of 0.8 (False), which takes SciPy; `words`, whether a `sentence` on each pair and measure
    follows (False); `daggers`, whether † and ‡ mark what is significantly better and worse than the
    baseline, in place of arrows (False). On a page: `plots` of means and of differences (True),
    which take matplotlib, and `pair`, the two systems whose differences are plotted query by query;
    by default the best of the first measure and the baseline, or else the second best.

    `to_csv` and frames have one line a group, measure and pair; the group of all queries has no
    name. They, `to_dict` and `to_json` have the option `power`, too, and the last two `per_query`,
    whether they have the values of every query (True).

    Attributes:
        systems, measures: names, in the order given.
        query_ids: the queries compared, those that all systems have values for.
        baseline: the system that all others are compared with, or None: all with all.
        pairs: positions (a, b) in `systems`; a is compared with b.
        values: float64 ``(systems, queries, measures)``.
        means: float64 ``(systems, measures)``; `intervals` has one axis more, for two bounds.
        differences: float64 ``(pairs, measures)``, the mean of a less that of b; and so
            `difference_intervals` (two bounds more), `effects`, `p_values`, `corrected`.
        wins, ties, losses: int64 ``(pairs, measures)``.
        judged: cutoff to the share of each query's documents up to it that are judged, float64
            ``(systems, queries)``, NaN of queries without a ranking; `judged_shares` and `holes`
            sum it up. Empty where that isn't known.
        test, alternative, correction, family, level, interval, simultaneous, draws, seed, margin,
            margin_test: as they were asked for.
        least_p: the least corrected p-value that could come out, however clear the differences.
        settings: how the values and the comparison came about.
        missing: system to the queries that others have and it has not: they are left out.
        unanswered: system to the queries it has no ranking for, which count 0.
        groups: a comparison of each group of queries, by name.
        alone: the values of each group of one query, ``(systems, measures)``, which `groups` lacks;
            NaN where it weighs nothing in a weighted mean.
    """

    _label = "tab:comparison"

    def failures(self, *conditions: str | Iterable[str]) -> list[str]:
        """Say in a sentence each of which systems conditions hold: ``"nDCG@10 drops 1% p<0.05"``.

        For a test of a release: ``assert not comparison.failures(…)``.

        Args:
            *conditions: ``MEASURE drops|rises|changes|worsens|improves [AMOUNT[%]] [p<LEVEL]``,
                against the baseline, p being corrected; or
                ``MEASURE [lower bound|upper bound] < NUMBER``, of any mean but the baseline's, or
                of an end of its interval. ``in GROUP:`` before it looks at a group of queries,
                ``in every group:`` at each. A group of one query fails, but for limits of means.

        Raises:
            InputError: if there is none; or one is not of this form, can never hold, holds of what
                is good, or takes a baseline and there is none.
        """
        return self._judge(conditions, required=False)

    def unmet(self, *requirements: str | Iterable[str]) -> list[str]:
        """Say in a sentence which systems don't meet ``"nDCG@10 not worse than baseline by 1%"``.

        ``assert not comparison.unmet(…)`` fails unless the data show it: few queries don't pass.

        Args:
            *requirements: ``MEASURE not worse [than BASELINE] by AMOUNT[%] [p<LEVEL]``: the
                corrected p of `not_worse_than` is below the level, by default the comparison's; or
                ``MEASURE [lower bound|upper bound] >= NUMBER``. Groups as in `failures`.

        Raises:
            InputError: as `failures`, and if a requirement can never be met, or always is.
        """
        return self._judge(requirements, required=True)

    def _judge(self, texts: Iterable[object], *, required: bool) -> list[str]:
        read = [parse_condition(text, required=required) for text in each_condition(texts)]
        return [said for condition in read for said in judge_comparison(self, condition)]

    def caption(self) -> str:
        """Say how systems were compared, and what the means hide."""
        return tell_how(self)

    def sentence(self, a: str, b: str, measure: str, *, digits: int = 4) -> str:
        """Say in plain words what is known of a compared pair, and how surely.

        InputError if one of them is unknown, they were not compared, or digits are none.

        >>> import irbatch
        >>> labels = [[1, 0], [1, 0], [1, 0], [0, 1], [1, 0], [1, 0]] * 2
        >>> runs = {"new": labels, "old": [row[::-1] for row in labels]}
        >>> results = {name: irbatch.evaluate_matrix(each, "RR") for name, each in runs.items()}
        >>> found = irbatch.compare_results(results, baseline="old")
        >>> found.sentence("new", "old", "RR", digits=2)  # doctest: +NORMALIZE_WHITESPACE
        'new is better than old on RR by 0.33 (+57.1%),
        and by more than 0.08 on queries like these (95% confidence).'
        """
        pair, column = self.find_pair(a, b), self.find_measure(measure)
        return without_marks(say(self, pair, column, digits))

    def sentences(self, *, digits: int = 4) -> list[str]:
        """Say it of every pair on every measure, in the order of `to_csv`, without groups."""
        return list(map(without_marks, say_all(self, digits)))

    def to_means_csv(self, path: Path | None = None) -> str:
        """Return, or also write, one line a group, measure and system: its mean and interval."""
        return write_csv(*list_means(self), path)

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Plot each pair's difference with its interval; see `irbatch.comparing.plots` for others.

        Args:
            measure: which; default: the first.
            ax: matplotlib's axes to draw on; default: those of a new figure.

        Returns, Raises: as `irbatch.Results.plot`.
        """
        from irbatch.comparing.plots import plot_forest

        return plot_forest(self, self.measures[0] if measure is None else measure, ax=ax)

    def means_to_pandas(self) -> Any:
        """Return a pandas frame: one row a group, measure and system; errors as `to_pandas`."""
        return make_pandas(*list_means(self))

    def means_to_polars(self) -> Any:
        """Return a polars frame of the same."""
        return make_polars(*list_means(self))

    def _document(
        self,
        form: str,
        *,
        digits: int = 4,
        intervals: bool = False,
        pairs: bool = True,
        judged: bool = False,
        words: bool = False,
        power: bool = False,
        daggers: bool = False,
        plots: bool = True,
        pair: tuple[str, str] | None = None,
    ) -> Document:
        figures = []
        if form == "html":
            from irbatch.comparing.figures import plot_figures  # for those who write pages

            figures = plot_figures(self, pair, digits)
        pairs = pairs and form != "latex"
        shown: dict[str, Any] = {"judged": judged, "words": words, "power": power}
        given = digits, intervals, pairs, figures if plots else []
        document = make_document(self, *given, **shown)
        return document.renamed({}, DAGGERS) if daggers else document

    def _everything(self, *, per_query: bool = True, power: bool = False) -> Record:
        return list_everything(self, per_query, power)

    def _records(self, *, power: bool = False) -> tuple[list[str], list[Record]]:
        return list_pairs(self, power)
