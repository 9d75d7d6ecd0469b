"""Options of one entry point that others forward are typed once, as it has them."""

import inspect

from irbatch import evaluate
from irbatch.evaluation.settings import EvaluateOptions


def test_options_of_evaluate() -> None:
    options = {
        name: each.annotation
        for name, each in inspect.signature(evaluate).parameters.items()
        if each.kind is inspect.Parameter.KEYWORD_ONLY
        and name not in ("executor", "partitioned_by_query")  # of runs in parts, which not all take
    }
    typed = {name: each.__forward_arg__ for name, each in EvaluateOptions.__annotations__.items()}
    assert typed == options
