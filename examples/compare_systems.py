"""Systems against a baseline: which differences are more than chance, and where they come from."""

import argparse
from pathlib import Path

import irbatch
from irbatch.comparing.rankings import kendall_tau, overlap

DATA = Path(__file__).parent / "data"
MEASURES = ["nDCG@10", "AP", "P@10", "R@100"]
BASELINE = "pixels-cosine"
CHANGED = "pca10"  # the system that is looked at query by query
CUTOFFS = [1, 2, 3, 5, 10, 20, 50, 100]

Runs = dict[str, irbatch.Run]


def show_queries(found: irbatch.comparing.Explanation, comparison: irbatch.Comparison) -> None:
    """Print where two systems differ most, and what became of documents that changed the value."""
    print(f"\nWhere {CHANGED} differs most from {BASELINE} in {found.measure}, ranks in both:")
    for each in found.queries:
        before, after = each.values
        moved = [
            f"{row.document.removeprefix('digit-')} {row.ranks[0] or '-'}→{row.ranks[1] or '-'}"
            for row in each.documents
            if row.change
        ]
        print(f"  {each.query:6}{before:.3f} → {after:.3f}  {', '.join(moved[:4])}")
    for name, queries in comparison.unanswered.items():
        if queries:
            print(f"  {name} has no ranking, and counts 0, for {', '.join(queries)}")


def show_overlaps(runs: Runs) -> None:
    """Print how alike the rankings are, whatever is relevant: means of rank-biased overlap."""
    print("\nOverlap of the rankings (RBO, p=0.9: the first ten ranks weigh 86%):")
    names = list(runs)
    for row, name in enumerate(names):
        means = [overlap(runs[name], runs[other]).mean() for other in names[:row]]
        print(f"  {name:18}" + "".join(f"{mean:7.2f}" for mean in means) + f"{'1':>7}")


def show_agreement(comparison: irbatch.Comparison) -> None:
    """Print whether it matters by which measure systems are put in order."""
    print("\nAgreement of measures on the order of systems (Kendall's tau):")
    means = comparison.means.T
    for row, name in enumerate(comparison.measures):
        taus = [kendall_tau(means[row], other) for other in means[: row + 1]]
        print(f"  {name:18}" + "".join(f"{tau:7.2f}" for tau in taus))


def save_plots(
    folder: Path, comparison: irbatch.Comparison, qrels: irbatch.Qrels, runs: Runs
) -> None:
    """Draw what the tables tell, how means depend on the cutoff, and what stands at each rank."""
    from irbatch.comparing import plots

    by_cutoff = irbatch.evaluate_runs(qrels, runs, "nDCG", CUTOFFS)
    folder.mkdir(parents=True, exist_ok=True)
    for name, axes in {
        "forest": plots.plot_forest(comparison, "nDCG@10"),
        "differences": plots.plot_differences(comparison, CHANGED, BASELINE, "nDCG@10"),
        "cutoffs": by_cutoff.plot(),
    }.items():
        axes.figure.savefig(folder / f"{name}.png", dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--html", metavar="FILE", help="write the report as a page, too")
    parser.add_argument("--why", metavar="FILE", help="write a page of the queries, too")
    parser.add_argument("--plots", metavar="FOLDER", type=Path, help="save pictures there")
    options = parser.parse_args()

    qrels = irbatch.read_qrels(DATA / "qrels.txt")
    runs = {path.stem: irbatch.read_run(path, path.stem) for path in sorted(DATA.glob("*.run"))}
    comparison = irbatch.compare(qrels, runs, MEASURES, baseline=BASELINE)
    print(comparison)
    found = irbatch.explain(qrels, runs[BASELINE], runs[CHANGED], "nDCG@10", most=8)
    show_queries(found, comparison)
    show_overlaps(runs)
    show_agreement(comparison)
    if options.html:
        comparison.to_html(options.html)
    if options.why:
        found.to_html(options.why)
    if options.plots:
        save_plots(options.plots, comparison, qrels, runs)


if __name__ == "__main__":
    main()
