"""Why two systems differ: the queries that changed, and what moved in their rankings."""

from irbatch.comparing.explaining.explanation import Explanation
from irbatch.comparing.explaining.nouns import JudgedDocument, QueryExplanation, RankedDocument
from irbatch.comparing.explaining.verb import explain

__all__ = ["Explanation", "JudgedDocument", "QueryExplanation", "RankedDocument", "explain"]
