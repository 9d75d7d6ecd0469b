"""Random problems as other tools survive them."""

from __future__ import annotations

from support.random_problems import Qrels, Run

LARGEST_GRADE = 60  # pytrec_eval allocates an array as long as the largest grade


def tamed(qrels: Qrels, run: Run) -> tuple[dict[str, dict[str, int]], Run]:
    """What pytrec_eval survives: no NUL in ids, a grade >= 0 in each query, none too large."""

    def text(name: str) -> str:
        return name.replace("\0", "␀")

    judgments = {
        text(q): {text(d): min(int(grade), LARGEST_GRADE) for d, grade in documents.items()}
        | {"spare": 0}
        for q, documents in qrels.items()
    }
    rankings = {text(q): {text(d): s for d, s in each.items()} for q, each in run.items()}
    return judgments, {q: each for q, each in rankings.items() if each}
