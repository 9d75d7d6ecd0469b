"""sentence-transformers' interface against its own evaluators, on a tiny model made here."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

# Deprecations inside torch and the library, which say nothing about us.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*pin_memory.*:UserWarning"),
]

WORDS = [f"w{number}" for number in range(60)]
DOCUMENTS = {f"d{number}": f"w{number} w{number * 7 % 60}" for number in range(60)}
# Documents of other ids and the same words, which every model scores the same.
REPEATED = DOCUMENTS | {f"e{number}": DOCUMENTS[f"d{number}"] for number in range(0, 60, 2)}
QUERY_TEXTS = {f"q{number}": f"w{number * 3} w{number}" for number in range(20)}
RELEVANT = {
    f"q{number}": {f"d{number * 3}", f"d{number}", f"e{number}", "not in the corpus"}
    for number in range(0, 20, 2)
} | {"q1": set(), "q3": {"d40"}}
CUTOFFS: dict[str, Any] = {
    "mrr_at_k": [3, 10], "ndcg_at_k": [1, 10], "accuracy_at_k": [1, 5],
    "precision_recall_at_k": [3, 100], "map_at_k": [2, 100],
}  # fmt: skip
TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def library() -> Any:
    reason = "pip install 'irbatch[sentence-transformers]'"
    return pytest.importorskip("sentence_transformers", reason=reason)


@pytest.fixture(scope="module")
def theirs(library: Any) -> Any:
    from sentence_transformers.sentence_transformer import evaluation

    return evaluation


@pytest.fixture(scope="module")
def ours(library: Any) -> Any:
    from irbatch.integrations import sentence_transformers

    return sentence_transformers


def make_model(seed: int = 0, dimensions: int = 8) -> Any:
    """Random static embeddings of whole numbers: equal texts have exactly equal scores."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(["?", *WORDS])}, "?"))
    tokenizer.pre_tokenizer = Whitespace()
    weights = np.random.default_rng(seed).integers(-4, 5, (61, dimensions)).astype("float32")
    static = StaticEmbedding(tokenizer, weights)
    return SentenceTransformer(modules=[static], device="cpu", similarity_fn_name="dot")


@pytest.fixture(scope="module")
def model(library: Any) -> Any:
    return make_model()


def read(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def agree(found: dict[str, float], expected: dict[str, float]) -> None:
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=TOLERANCE, rel=0)


@pytest.mark.smoke
@pytest.mark.parametrize("corpus", [DOCUMENTS, REPEATED], ids=["distinct", "repeated"])
@pytest.mark.parametrize("options", [{}, CUTOFFS, {**CUTOFFS, "corpus_chunk_size": 7}])
def test_retrieval_is_the_library_s(
    ours: Any, theirs: Any, model: Any, tmp_path: Path, corpus: Any, options: Any
) -> None:
    found, files = [], []
    for module in (ours, theirs):
        evaluator = module.InformationRetrievalEvaluator(
            QUERY_TEXTS, corpus, RELEVANT, name="dev", **options
        )
        folder = tmp_path / module.__name__
        found.append(evaluator(model, str(folder), epoch=1, steps=2))
        files.append(read(next(folder.iterdir())))
        assert evaluator.primary_metric == "dev_dot_ndcg@10"
        assert evaluator.description == "Information Retrieval"
    agree(*found)
    assert found[0]["dev_dot_ndcg@10"] > 0
    assert files[0][0] == files[1][0]
    rows = [np.array(file[1], float) for file in files]
    np.testing.assert_allclose(rows[0], rows[1], rtol=0, atol=TOLERANCE)


def test_lists_in_any_order(ours: Any, theirs: Any) -> None:
    queries = {query: text for query, text in QUERY_TEXTS.items() if RELEVANT.get(query)}
    rng = np.random.default_rng(3)
    hits = [
        [{"corpus_id": str(each), "score": float(rng.integers(3))}
         for each in rng.permutation(list(REPEATED))]
        for _ in queries
    ]  # fmt: skip
    found = [
        module.InformationRetrievalEvaluator(queries, REPEATED, RELEVANT).compute_metrics(hits)
        for module in (ours, theirs)
    ]
    for key in found[1]:
        agree(found[0][key], found[1][key])


def test_several_score_functions(ours: Any, theirs: Any, model: Any) -> None:
    from sentence_transformers import util

    functions = {"cosine": util.cos_sim, "dot": util.dot_score}
    found = [
        module.InformationRetrievalEvaluator(
            QUERY_TEXTS, REPEATED, RELEVANT, score_functions=functions, main_score_function="dot"
        )(model)
        for module in (ours, theirs)
    ]
    agree(*found)


def test_more_measures(ours: Any, model: Any) -> None:
    """Those within the library's cutoffs come from its rankings."""
    evaluator = ours.InformationRetrievalEvaluator(
        QUERY_TEXTS, REPEATED, RELEVANT, name="dev", measures=["nDCG@10", "RBP(p=0.8)@100"]
    )
    found = evaluator(model)
    assert found["dev_dot_nDCG@10"] == found["dev_dot_ndcg@10"]
    assert 0 < found["dev_dot_RBP(p=0.8)@100"] < 1


def test_scores_that_are_no_numbers(ours: Any, model: Any) -> None:
    def broken(queries: Any, documents: Any) -> Any:
        scores = queries @ documents.T
        scores[4, 7] = np.nan
        return scores

    evaluator = ours.InformationRetrievalEvaluator(
        QUERY_TEXTS, DOCUMENTS, RELEVANT, score_functions={"broken": broken}
    )
    input_error(lambda: evaluator(model), "nan")
    samples = [{"query": "w1", "positive": "w2", "negative": "w3"}]
    reranking = ours.RerankingEvaluator(samples, similarity_fct=lambda a, b: a @ b.T * np.nan)
    input_error(lambda: reranking(model), "nan")


SAMPLES = [
    {
        "query": f"w{number}",
        "positive": [f"w{number + 20} w{number + 1 + each}" for each in range(1 + number % 3)],
        "negative": [f"w{(number * 5 + each * 3) % 60} w59" for each in range(4 + number % 5)],
    }
    for number in range(12)
] + [{"query": "w1", "positive": [], "negative": ["w2"]}]


def make_real(seed: int = 1) -> Any:
    """Embeddings of real numbers: different texts have different scores."""
    found = make_model(seed, 16)
    table = found[0].embedding.weight
    table.data += table.new_tensor(np.random.default_rng(seed).normal(size=table.shape))
    return found


@pytest.mark.parametrize("options", [{}, {"at_k": 2, "name": "dev"},
                                     {"use_batched_encoding": False}])  # fmt: skip
def test_reranking_is_the_library_s(
    ours: Any, theirs: Any, library: Any, tmp_path: Path, options: Any
) -> None:
    model = make_real()
    found, files = [], []
    for module in (ours, theirs):
        evaluator = module.RerankingEvaluator(SAMPLES, **options)
        folder = tmp_path / module.__name__
        found.append(evaluator(model, str(folder)))
        files.append(read(next(folder.iterdir())))
        assert evaluator.primary_metric in found[-1]
    agree(*found)
    assert 0 < found[0][evaluator.primary_metric] < 1
    assert files[0][0] == files[1][0]


@pytest.mark.parametrize(
    ("name", "given", "options", "fact"),
    [
        *(("InformationRetrievalEvaluator", (QUERY_TEXTS, DOCUMENTS, relevant), options, fact)
          for relevant, options, fact in (
              ({}, {}, "no query"), ({"q1": set()}, {}, "no query"),
              (RELEVANT, {"measures": "nGCD"}, "nGCD"),
              (RELEVANT, {"measures": "AP"}, "AP looks below rank 100"),
              (RELEVANT, {"measures": "RR@200"}, "RR@200 looks below rank 100"))),
        ("RerankingEvaluator", ([],), {}, "no sample"),
        ("RerankingEvaluator", (SAMPLES[-1:],), {}, "no sample"),
        *((name, (SAMPLES,), {"ties": "id"}, "'id'")
          for name in ("RerankingEvaluator", "CrossEncoderRerankingEvaluator")),
    ],
)  # fmt: skip
def test_rejected(ours: Any, name: str, given: Any, options: Any, fact: str) -> None:
    input_error(lambda: getattr(ours, name)(*given, **options), fact)


@pytest.mark.filterwarnings("ignore:scores. all candidates:irbatch.InputWarning")  # they are
def test_reranking_of_equal_documents(ours: Any, model: Any) -> None:
    sample = {"query": "w1", "positive": "w2 w3", "negative": ["w2 w3", "w2 w3"]}
    values = {
        ties: ours.RerankingEvaluator([sample], ties=ties)(model)["mrr@10"]
        for ties in ("optimistic", "expected", "pessimistic", "index")
    }
    third = 1 / 3
    expected = {"optimistic": 1, "expected": (1 + 1 / 2 + third) / 3, "pessimistic": third}
    assert values == pytest.approx(expected | {"index": 1}, abs=1e-15)


class Scorer:
    """Stands in for a CrossEncoder, which only has to predict and to have a model card."""

    class model_card_data:  # noqa: N801
        @staticmethod
        def set_evaluation_metrics(*args: Any) -> None:
            pass

    def predict(self, pairs: Any, **options: Any) -> Any:
        texts = [" | ".join(pair) for pair in pairs]
        return np.array([sum(map(ord, each)) % 97 + len(each) / 100 for each in texts], "float32")


RANKED = [
    {"query": "w1", "positive": ["w2", "w4"], "documents": ["w3", "w2", "w5 w6", "w77"]},
    {"query": "w1 w2", "positive": ["w8"], "documents": ["w3", "w55"]},
]


@pytest.mark.parametrize(
    ("samples", "options"),
    [(SAMPLES[:-1], {}), (RANKED, {"name": "dev"}), (RANKED, {"always_rerank_positives": False})],
)
def test_cross_encoder_reranking(ours: Any, library: Any, samples: Any, options: Any) -> None:
    from sentence_transformers.cross_encoder import evaluation

    found = [
        module.CrossEncoderRerankingEvaluator(samples, **options)(Scorer())
        for module in (ours, evaluation)
    ]
    agree(*found)


def test_a_trainer_chooses_by_it(ours: Any, library: Any, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="pip install datasets")
    pytest.importorskip("accelerate", reason="pip install accelerate")
    from sentence_transformers.sentence_transformer import losses

    model = make_real(3)
    evaluator = ours.InformationRetrievalEvaluator(
        QUERY_TEXTS, REPEATED, RELEVANT, name="dev", measures="AP@100"
    )
    pairs = [(QUERY_TEXTS[q], DOCUMENTS[d]) for q, each in sorted(RELEVANT.items())
             for d in sorted(each & DOCUMENTS.keys())]  # fmt: skip
    data = datasets.Dataset.from_dict({"anchor": [a for a, _ in pairs],
                                       "positive": [b for _, b in pairs]})  # fmt: skip
    args = library.SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=2, per_device_train_batch_size=8,
        learning_rate=0.05, eval_strategy="epoch", save_strategy="epoch", report_to=[],
        load_best_model_at_end=True, metric_for_best_model="eval_dev_dot_ndcg@10", use_cpu=True,
        disable_tqdm=True,
    )  # fmt: skip
    trainer = library.SentenceTransformerTrainer(
        model, args, train_dataset=data, evaluator=evaluator,
        loss=losses.MultipleNegativesRankingLoss(model),
    )  # fmt: skip
    trainer.train()
    seen = [each for each in trainer.state.log_history if "eval_dev_dot_AP@100" in each]
    assert len(seen) == 2
    assert trainer.state.best_metric == max(each["eval_dev_dot_ndcg@10"] for each in seen)
    assert evaluator(trainer.model)["dev_dot_ndcg@10"] == trainer.state.best_metric
