"""Systems of a leaderboard on their machines, under tests, and under other queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from irbatch.leaderboard.axes import list_axes
from irbatch.leaderboard.instances import choose_rows, set_prices
from irbatch.leaderboard.significance import find_significance
from irbatch.leaderboard.stability import Rows, find_stability
from irbatch.leaderboard.systems import Systems
from irbatch.statistics.resampling import check_draws


class StudiedSystems(Systems):
    """What follows from the values of queries, from calls, and from prices of machines.

    Each method returns a leaderboard that knows more; `irbatch.leaderboard.Leaderboard` explains
    arguments and names.
    """

    def best_instances(self, axis: str = "cost_per_million") -> Self:
        """Return the leaderboard with one row a system: the best of its machines along an axis.

        Rows of machines that are not the best are `left_out`; of equal ones the first stays.

        Raises:
            InputError: if there is no such axis, no machine of a system has a value of it, or
                values are in several currencies.
        """
        found = self.axis(axis)
        self.check_currency(found.name)
        gains = self.values(found.name) * found.sign
        places = choose_rows(self.records, found.name, gains)
        left = self.at(places)
        said = f"the best machine of each system by {found.name}"
        left.constraints = [*self.constraints, said]
        others = (name for i, name in enumerate(self.systems) if i not in places)
        left.left_out = {**self.left_out, **{name: [said] for name in others}}
        return left

    def priced(self, prices: Mapping[str, float], currency: str | None = None) -> Self:
        """Return the leaderboard with prices per hour by instance, and costs that follow from them.

        Raises:
            InputError: if no system was measured on an instance, or a price is no number from 0 on.

        >>> from irbatch.efficiency import EfficiencyRecord, Latency
        >>> record = EfficiencyRecord(system="bm25", hardware="c6g.large", latency=Latency(mean=36))
        >>> board = StudiedSystems({"bm25": {"RR": 0.5}}, record).priced({"c6g.large": 0.5})
        >>> board.values("cost").tolist()
        [5.0]
        """
        other = self.at(list(range(len(self))))
        other.records = set_prices(self.records, prices, currency)
        other.stability = None  # costs may be axes of it
        return other

    def tested(
        self,
        *,
        test: str = "randomisation",
        correction: str = "holm",
        level: float = 0.05,
        draws: int = 10_000,
        seed: int = 0,
    ) -> Self:
        """Return the leaderboard that knows which systems are significantly worse than the best.

        Each measure's systems are tested against each other, on the values of queries that their
        `Results` have, as `irbatch.compare` does; ``significance`` of what returns has p-values,
        and tables mark the systems that are not significantly worse than the best of a measure.

        Args:
            test, correction, level, draws, seed: as of `irbatch.compare`; all pairs are corrected
                for, as the best is not known beforehand: against it alone, one of eight systems
                that are alike would be significantly worse in 10 % of cases, not in 5 %.

        Raises:
            InputError: as `irbatch.compare`; if fewer than two systems have values of queries, or
                they were evaluated on different ones.
        """
        options = {"test": test, "correction": correction, "level": level, "draws": draws}
        signs = {name: self.axis(name).sign for name in self.measures}
        other = self.at(list(range(len(self))))
        other.significance = find_significance(
            self.systems, self.results, self.measures, signs, {**options, "seed": seed}
        )
        return other

    def resampled(self, axes: Iterable[str], *, draws: int = 2000, seed: int = 0) -> Self:
        """Return the leaderboard that knows how often each system is on the Pareto frontier.

        Queries are drawn with replacement, as many as there are, the same for all systems, and the
        frontier is found of the means of these; ``stability.shares`` of what returns says in which
        share of draws a system was on it, and tables have a column of that. Of systems that were
        given as a `Measurement` calls are drawn, too: those of the queries drawn where each call is
        a query's that accuracy is of, else on their own. All other values stand as they are.

        Args:
            axes: as of `pareto`.
            draws, seed: of the bootstrap.

        Raises:
            InputError: as `pareto`; if nothing can be drawn along any axis, or systems were
                evaluated on different queries.
        """
        check_draws(draws, seed)
        names = [each.name for each in list_axes(axes, self.measures)]
        known, _ = self.having(names)
        values, signs = known.compare(names, None)
        rows = Rows(known.systems, known.records, known.results, known.timed)
        other = self.at(list(range(len(self))))
        other.stability = find_stability(rows, names, self.measures, values, signs, draws, seed)
        return other
