"""The public verbs: from judgments and rankings to results."""
