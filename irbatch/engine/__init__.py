"""The relevance matrix, the scan over it, and the statistics that measures are functions of."""
