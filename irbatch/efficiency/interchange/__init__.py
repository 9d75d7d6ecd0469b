"""Efficiency records in the forms of other programs.

JSON, ir_metadata in YAML and at the head of run files, tirex-tracker, codecarbon. What is read and
written here are the fields of an `irbatch.efficiency.EfficiencyRecord`, as a dict.
"""
