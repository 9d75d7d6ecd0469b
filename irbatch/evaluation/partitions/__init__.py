"""Evaluating a run part by part, wherever the parts are, and adding up what comes of them."""
