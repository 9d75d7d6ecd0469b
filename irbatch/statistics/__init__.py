"""Resampling, significance, intervals, corrections, power: arrays in, numbers out."""
