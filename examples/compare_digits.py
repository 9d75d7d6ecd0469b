"""Five systems against the same judgments, read from files: the table of a small experiment."""

from pathlib import Path

import irbatch

DATA = Path(__file__).parent / "data"
MEASURES = ["nDCG@10", "AP", "RR", "P@{5,10}", "R@100", "Judged@10"]


def main() -> None:
    systems = irbatch.evaluate_runs(DATA / "qrels.txt", sorted(DATA.glob("*.run")), MEASURES)
    best_first = sorted(systems.values(), key=lambda results: results["nDCG@10"], reverse=True)

    names = best_first[0].measures
    print(f"{'':20}" + "".join(f"{name:>11}" for name in names))
    for results in best_first:
        print(f"{results.name:20}" + "".join(f"{results.shown(name):>11}" for name in names))

    print("\nSettings:")  # part of the result: other settings give other numbers
    for signature in dict.fromkeys(results.signature for results in best_first):
        print(f"  {signature}")

    print("\nNotes:")
    for results in best_first:
        for note in results.notes():
            print(f"  {results.name}: {note}")


if __name__ == "__main__":
    main()
