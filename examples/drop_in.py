"""A script written for pytrec_eval, with its import changed, next to trec_eval's own output."""

from pathlib import Path

from irbatch.cli import main as irbatch_command
from irbatch.integrations import pytrec_eval  # was: import pytrec_eval

DATA = Path(__file__).parent / "data"
MEASURES = {"map", "ndcg_cut.10", "P.5,10", "recip_rank", "num_rel_ret", "gm_map"}


def main() -> None:
    with (DATA / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with (DATA / "pca10.run").open() as file:
        run = pytrec_eval.parse_run(file)

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES)
    results = evaluator.evaluate(run)
    query = min(results)
    print(f"query {query}:", results[query])
    for name in results[query]:
        values = [values[name] for values in results.values()]
        print(f"{name:12} {pytrec_eval.compute_aggregated_measure(name, values):.4f}")

    # The same measures as trec_eval 9.0.8 prints them, which pytrec_eval wraps.
    wanted = [word for name in sorted(MEASURES) for word in ("-m", name)]
    files = [str(DATA / "qrels.txt"), str(DATA / "pca10.run")]
    irbatch_command(["trec_eval", "--as", "9", *wanted, *files])


if __name__ == "__main__":
    main()
