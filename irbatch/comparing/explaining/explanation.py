"""Why two systems differ, in one object, with reports of it in every form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irbatch.comparing.explaining.nouns import Explained
from irbatch.comparing.explaining.tables import list_everything, list_queries, make_document
from irbatch.errors import printable
from irbatch.report.document import Document, Record
from irbatch.report.reported import Reported

# How many letters of a document's text are shown where it is judged, and in rankings.
TEXTS = {"markdown": (100, 100), "html": (120, 240), "notebook": (120, 240)}


class Explanation(Reported, Explained):
    """What `irbatch.explain` returns: queries that changed, and reports of them.

    On the page that `to_html` writes, each query opens and shows both rankings. Reports for people
    have as option `digits`, how many decimals of values (default: 4); `to_csv` and frames have one
    line a query.

    Pairs are of the first system and the second one. What a document adds to a value is what the
    value grows by where, going down the ranking, one comes to the document: the gain over the
    discount and the ideal DCG, of nDCG; precision at its rank over all relevant, of AP. These add
    up to the value. It is said of measures that are such a sum.

    Attributes:
        measure, systems, means: what was compared, and the means of all queries.
        worse, better, same: how many queries got worse, better, or stayed as they were.
        queries: the `QueryExplanation` of those asked for.
        depth: how many ranks of each ranking are shown.
        cutoff: the measure's; None: it looks at whole rankings.
        sign: 1 if higher values are better, -1 if lower ones are, 0 if neither is.
        adds: whether it is known what each document adds.
        grades: the relevant grades that the judgments have, ascending.
        settings: how the values came about.
    """

    _label = "tab:explanation"

    def __repr__(self) -> str:
        first, second = map(printable, self.systems)
        changed = f"{self.worse} worse, {self.better} better, {self.same} the same"
        return f"Explanation of {self.measure} from {first} to {second}: {changed}"

    def _document(self, form: str, *, digits: int = 4) -> Document:
        return make_document(self, digits, TEXTS.get(form, (0, 0)))

    def _everything(self) -> dict[str, Any]:
        return list_everything(self)

    def _records(self) -> tuple[Sequence[str], list[Record]]:
        return list_queries(self)
