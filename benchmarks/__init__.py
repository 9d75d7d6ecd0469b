"""irbatch beside other tools: ``python -m benchmarks``."""
