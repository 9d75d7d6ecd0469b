"""Slow plain-Python twins, written from the definitions: what the fast code must equal."""
