"""What trec_eval would print: its measures, averages and lines, in both its versions."""

from irbatch.trec_eval.options import TrecEval
from irbatch.trec_eval.printing import MissingQueryError, ZScores, adjust_values, print_lines

__all__ = ["MissingQueryError", "TrecEval", "ZScores", "adjust_values", "print_lines"]
