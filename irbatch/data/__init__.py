"""The nouns of an evaluation: judgments, runs, ids, and tables of any framework."""
