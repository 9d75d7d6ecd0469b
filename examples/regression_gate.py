"""A regression gate: a change is held back if it makes the ranking worse, by more than chance.

With pytest, as a test of the project: `pytest examples/regression_gate.py`. As a script, for any
two runs of the example data: `python examples/regression_gate.py CANDIDATE ACCEPTED`.
"""

import sys
from pathlib import Path

import irbatch

DATA = Path(__file__).parent / "data"
ACCEPTED = DATA / "pixels-cosine.run"  # of the last release
CANDIDATE = DATA / "pixels-euclidean.run"
MEASURES = ["nDCG@10", "AP", "R@100"]
MUST_NOT_HOLD = [
    "nDCG@10 drops 1% p<0.05",  # of the accepted mean
    "R@100 drops 0.02 p<0.05",
    "AP drops 10%",  # whether or not it may be chance
]


def compare(candidate: Path, accepted: Path) -> irbatch.Comparison:
    """Compare a candidate with what was accepted; a ranking that it lacks counts 0."""
    runs = {"candidate": candidate, "accepted": accepted}
    return irbatch.compare(DATA / "qrels.txt", runs, MEASURES, baseline="accepted")


def test_candidate_is_not_worse() -> None:
    comparison = compare(CANDIDATE, ACCEPTED)
    for condition in MUST_NOT_HOLD:
        assert not comparison.failures(condition)


def main(candidate: Path = CANDIDATE, accepted: Path = ACCEPTED) -> int:
    comparison = compare(candidate, accepted)
    print(f"{candidate.stem} against {accepted.stem}, {len(comparison.query_ids)} queries:")
    for name in MEASURES:  # a gate that is passed does not tell that nothing was lost
        found = comparison.difference("candidate", "accepted", name)
        low, high = found.interval
        print(f"  {name:8}{found.difference:+.4f}, 95% interval {low:+.4f} to {high:+.4f}")
    failures = [each for condition in MUST_NOT_HOLD for each in comparison.failures(condition)]
    for each in failures:
        print(f"  failed: {each}")
    print("held back" if failures else "accepted")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
