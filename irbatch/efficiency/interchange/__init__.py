"""The fields of an `irbatch.efficiency.EfficiencyRecord`, as a dict, in forms of other programs."""
