"""Judgments and rankings as tables: from what callers have, joined, and back."""
