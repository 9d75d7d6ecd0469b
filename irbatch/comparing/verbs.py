"""The public verbs: systems against each other, from runs or from results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, Unpack

from irbatch.comparing.aligning import align
from irbatch.comparing.comparison import Comparison
from irbatch.comparing.testing import Options, compare_aligned
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures, Rankings
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs
from irbatch.evaluation.settings import EvaluateOptions, check_settings
from irbatch.measures import MARKED, Measure, measure, parse_measures
from irbatch.statistics.significance import plain_name

# Values by query of one system: results or partial ones, a dict, an Arrow table, paths of Parquet.
QueryValues: TypeAlias = Any


def compare(
    qrels: Judgments,
    runs: Mapping[str, Rankings] | Iterable[Rankings],
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: str | None = "holm",
    level: float = 0.05,
    interval: str = "t",
    simultaneous: bool = True,
    draws: int = 10_000,
    seed: int = 0,
    margin: float | str | None = None,
    alternative: str = "two-sided",
    family: str = "pairs",
    margin_test: str = "t",
    groups: Mapping[Any, str] | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Comparison:
    """Evaluate systems on the same queries, and tell which differences are more than chance.

    Args:
        qrels, runs, measures, cutoffs: as in `irbatch.evaluate_runs`.
        baseline: the system that all others are compared with; default: each with each.
        test: of the paired differences: ``"randomisation"``, flipping signs, exact where
            up to 24 queries differ, p-values below 0.01 by saddlepoint approximation; ``"t"``,
            ``"wilcoxon"``, ``"sign"``, ``"bootstrap"``; or of all systems at once ``"tukey"``,
            randomised, or ``"anova"``. Of a million queries ``"t"`` takes a minute where those that
            resample take several.
        correction: of p-values, for the number of pairs compared on a measure: ``"holm"``,
            ``"bonferroni"``, ``"bh"``, ``"by"`` or ``"none"``. Tests of all systems at once need
            none. Names of SciPy and statsmodels, such as ``"fdr_bh"``, are understood.
        level: chance of finding a difference that is not there, and of an interval to miss.
        interval: of means and differences: by Student's ``"t"``, or by bootstrap, ``"percentile"``
            or ``"bca"``.
        simultaneous: whether intervals of differences are as wide as the correction asks for, so
            that they agree with the p-values; else each misses by `level` by itself, as those of
            means do.
        draws: of tests and intervals that resample.
        seed: of the draws; the first of more draws are those of fewer.
        margin: differences below it don't matter: tells which systems are equivalent, and which
            are not worse. A number, or a share of the other system's mean such as ``"1%"``.
        alternative: what a test is to find: any difference (``"two-sided"``), or that a system's
            mean is ``"greater"`` than the baseline's, or ``"less"``; intervals are one-sided, too.
        family: what a correction is for: the ``"pairs"`` on a measure, or ``"all"`` pairs on all
            measures.
        margin_test: of differences against the margin: ``"t"``, or ``"randomisation"``, exact
            where they scatter evenly around it, which those of few values (P@5) do not.
        groups: query id to the name of its group, a mapping or a series of pandas; tables are
            broken down by group, and the bootstrap draws from each apart.
        **settings: the keyword arguments of `irbatch.evaluate`.

    Raises:
        InputError: if there are fewer than two systems or two common queries, the baseline or an
            option is unknown, and as `irbatch.evaluate`.

    >>> import irbatch
    >>> qrels = {q: {"d1": 1} for q in "abcdefgh"}
    >>> good = {q: {"d1": 2, "d2": 1} for q in qrels}
    >>> bad = {q: {"d1": 1, "d2": 2} for q in qrels}
    >>> found = irbatch.compare(qrels, {"bad": bad, "good": good}, "RR", baseline="bad")
    >>> found.difference("good", "bad", "RR").p_value  # 2 of 256 assignments of signs
    0.0078125
    """
    check_settings(compare, settings)
    options = Options(
        *(baseline, plain_name(test), plain_name(correction), level, interval, simultaneous),
        *(draws, seed, margin),
        *(alternative, family, margin_test),
    )
    wanted = parse_measures(measures, cutoffs)
    hidden = _judged_at(wanted, settings)
    results = evaluate_runs(qrels, runs, [*wanted, *hidden], **settings)
    return compare_aligned(align(results, len(hidden)), options, groups)


def _judged_at(wanted: Sequence[Measure], settings: EvaluateOptions) -> list[Measure]:
    """Return what tells, beside the measures, how many of the documents they see are judged.

    It takes an order of the documents, and plain judgments.
    """
    if settings.get("ties", "id") not in ("id", "id_ascending", "index"):
        return []
    if any(each.declaration.reads in MARKED for each in wanted):
        return []
    cutoffs = sorted({each.cutoff for each in wanted if each.cutoff is not None})
    judged = [measure("Judged") @ cutoff for cutoff in cutoffs]
    return [each for each in judged if each not in wanted]


def compare_results(
    results: Mapping[str, QueryValues] | Iterable[QueryValues],
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: str | None = "holm",
    level: float = 0.05,
    interval: str = "t",
    simultaneous: bool = True,
    draws: int = 10_000,
    seed: int = 0,
    margin: float | str | None = None,
    alternative: str = "two-sided",
    family: str = "pairs",
    margin_test: str = "t",
    groups: Mapping[Any, str] | None = None,
    qrels: Judgments | None = None,
) -> Comparison:
    """Compare systems by results that were evaluated before, wherever their values are.

    Args:
        results: system name to results, or results that have names. In their place: a dict of
            queries to measures to values, as pytrec_eval returns it; a `PartialResult` or a table
            that it became (`PartialResult.to_arrow`); a table of any framework with a column of
            queries and one a measure, as the engines' ``per_query(…)`` make; or paths of Parquet
            files or folders of such tables. Files of one system may be several, in a list; their
            queries may stand in any order.
        baseline, test, correction, level, interval, simultaneous, draws, seed, margin,
            alternative, family, margin_test, groups: as in `compare`.
        qrels: the judgments that partial results were evaluated with, unless each had its own.

    Raises:
        InputError: as `compare`, and if results are of different measures, or a table has a query
            twice, or columns that are no measures.

    >>> import irbatch
    >>> first = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 0]], "RR P@1")
    >>> other = irbatch.evaluate_matrix([[0, 1], [0, 1], [1, 0]], "RR P@1")
    >>> compare_results({"first": first, "other": other}).difference("first", "other", "RR").wins
    1
    """
    options = Options(
        *(baseline, plain_name(test), plain_name(correction), level, interval, simultaneous),
        *(draws, seed, margin),
        *(alternative, family, margin_test),
    )
    if not _are_results(results):
        from irbatch.comparing.query_values import read_results

        results = read_results(results, qrels)
    return compare_aligned(align(results), options, groups)


def _are_results(given: Any) -> bool:
    """Tell whether there is nothing to be read."""
    each = given.values() if isinstance(given, Mapping) else given
    return isinstance(each, Collection) and all(isinstance(some, Results) for some in each)
