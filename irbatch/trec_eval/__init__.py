"""What trec_eval would print: its measures, averages and lines, in both its versions."""

from irbatch.trec_eval.options import MissingQueryError, TrecEval
from irbatch.trec_eval.printing import ZScores, settle

__all__ = ["MissingQueryError", "TrecEval", "ZScores", "settle"]
