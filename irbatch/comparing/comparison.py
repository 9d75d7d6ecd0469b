"""A comparison of systems: everything that is known of their differences, in one object."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, Unpack

from irbatch.comparing.compared import Compared
from irbatch.comparing.gate import find_failures, find_unmet
from irbatch.comparing.limits import each_condition
from irbatch.comparing.lookups import find_measure
from irbatch.comparing.records import list_everything, list_means, list_pairs
from irbatch.comparing.tables import make_document
from irbatch.comparing.wording import say, say_all, tell_how
from irbatch.report import latex, markdown, records, terminal
from irbatch.report.document import without_marks
from irbatch.runtime.files import written

Path = str | PathLike[str]


class Comparison(Compared):
    """What `irbatch.compare` returns: numbers, and reports of them in every form.

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
        return [said for each in each_condition(conditions) for said in find_failures(self, each)]

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
        return [said for each in each_condition(requirements) for said in find_unmet(self, each)]

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
        >>> irbatch.compare_results(results, baseline="old").sentence("new", "old", "RR", digits=2)
        'new is better than old on RR by 0.33 (+57.1%), surely more than 0.08 (95% confidence).'
        """
        pair, column = self.find_pair(a, b), find_measure(self.measures, measure)
        return without_marks(say(self, pair, column, digits))

    def sentences(self, *, digits: int = 4) -> list[str]:
        """Say it of every pair on every measure, in the order of `to_csv`, without groups."""
        return list(map(without_marks, say_all(self, digits)))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html(fragment=True, plots=False)

    def to_text(
        self,
        *,
        digits: int = 4,
        intervals: bool = False,
        pairs: bool = True,
        judged: bool = False,
        words: bool = False,
        ansi: bool = False,
        width: int = terminal.WIDTH,
        path: Path | None = None,
    ) -> str:
        """Return, or also write, tables of systems and of pairs, for a terminal.

        Args:
            digits: how many decimals of means and differences.
            intervals: whether means come with their confidence intervals.
            pairs: whether the table of pairs follows.
            judged: whether means stand beside the share of documents that are judged, up to each
                cutoff, and the queries that have an unjudged one there.
            words: whether a sentence on each pair and measure follows, see `sentence`.
            ansi: whether the best means and significant p-values are bold, by a terminal's escapes;
                if not, they are starred.
            width: measures that would make lines longer than this go on in a further table.
            path: where to write it; an existing file is replaced whole or not at all.

        Raises:
            InputError: if digits is not a whole number from 0 to 17, or it isn't known how much is
                judged: results do not tell without Judged, nor measures without cutoffs.
        """
        document = make_document(self, digits, intervals, pairs, judged=judged, words=words)
        return written(terminal.write_document(document, ansi=ansi, width=width), path)

    def to_markdown(
        self,
        *,
        digits: int = 4,
        intervals: bool = False,
        pairs: bool = True,
        judged: bool = False,
        words: bool = False,
        path: Path | None = None,
    ) -> str:
        """Return, or also write, such tables in GitHub's Markdown; options as in `to_text`."""
        document = make_document(self, digits, intervals, pairs, judged=judged, words=words)
        return written(markdown.write_document(document), path)

    def to_latex(
        self,
        *,
        digits: int = 4,
        intervals: bool = False,
        judged: bool = False,
        daggers: bool = False,
        path: Path | None = None,
        **options: Unpack[latex.LatexOptions],
    ) -> str:
        r"""Return, or also write, a table of systems; it needs ``\usepackage{booktabs}``.

        Args:
            digits, intervals, judged, path: as in `to_text`.
            daggers: mark what is significantly better than the baseline with † and what is worse
                with ‡, in place of arrows.
            **options: `caption`, `label` (default: ``"tab:comparison"``), `environment`,
                `line_width`, `headings`, `unicode`: as in `irbatch.SystemResults.to_latex`.

        Raises:
            InputError: as `to_text` and `irbatch.SystemResults.to_latex`.
        """
        document = make_document(self, digits, intervals, pairs=False, judged=judged)
        options.setdefault("label", "tab:comparison")
        return written(latex.write_document(document, daggers=daggers, **options), path)

    def to_html(
        self,
        path: Path | None = None,
        *,
        digits: int = 4,
        intervals: bool = False,
        pairs: bool = True,
        judged: bool = False,
        words: bool = False,
        plots: bool = True,
        pair: tuple[str, str] | None = None,
        title: str | None = None,
        fragment: bool = False,
    ) -> str:
        """Return, or also write, a page: sortable tables, plots of means and of differences.

        Without matplotlib (``pip install 'irbatch[plot]'``) it says how to get the plots.

        Args:
            path, digits, pairs, judged, words: as in `to_text`.
            intervals: whether the table has the confidence intervals of means, as the plots do.
            plots: whether there are plots.
            pair: the two systems whose differences are plotted query by query; the best of the
                first measure and the baseline, or without one the second best, if none is given.
            title: of the page.
            fragment: leave out what makes it a page, its script too, to stand in a notebook.

        Raises:
            InputError: as `to_text`, and if a pair is not of two systems compared.
        """
        from irbatch.comparing.figures import plot_figures  # for those who write pages
        from irbatch.report import html

        figures = plot_figures(self, pair, digits)
        document = make_document(
            self, digits, intervals, pairs, title, figures if plots else [],
            judged=judged, words=words,
        )  # fmt: skip
        return written(html.write_document(document, fragment=fragment), path)

    def to_csv(self, path: Path | None = None, *, power: bool = False) -> str:
        """Return, or also write, one line a group, measure and pair with every number.

        The group of all queries has no name; whether a pair is equivalent, or not worse, is told
        if a margin was given. Names that a spreadsheet would take for a formula get a leading
        apostrophe.

        `path` is as in `to_text`, `power` as in `to_json`.
        """
        return records.write_csv(*list_pairs(self, power), path)

    def to_means_csv(self, path: Path | None = None) -> str:
        """Return, or also write, one line a group, measure and system: its mean and interval."""
        return records.write_csv(*list_means(self), path)

    def to_json(
        self, path: Path | None = None, *, per_query: bool = True, power: bool = False
    ) -> str:
        """Return, or also write, everything as JSON; NaN and infinite numbers become null.

        Each pair comes with its `sentence`.

        Args:
            path: as in `to_text`.
            per_query: whether it has the values of every query.
            power: whether it tells of each pair which difference these queries could have shown
                and how many queries the observed one takes.

        Raises:
            ImportError: naming the extra, when power is asked for and SciPy is not installed.
        """
        return records.write_json(list_everything(self, per_query, power), path)

    def to_pandas(self, *, power: bool = False) -> Any:
        """Return a pandas frame: one row a group, measure and pair; `power` as in `to_json`.

        Raises:
            ImportError: naming the extra, when pandas is not installed.
        """
        return records.make_frame(*list_pairs(self, power))

    def means_to_pandas(self) -> Any:
        """Return a pandas frame: one row a group, measure and system; errors as `to_pandas`."""
        return records.make_frame(*list_means(self))
