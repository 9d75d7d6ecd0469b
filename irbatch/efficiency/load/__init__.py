"""A search under load: queries come at a rate, answered or not (an open loop)."""
