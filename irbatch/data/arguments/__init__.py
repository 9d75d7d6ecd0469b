"""Reading the arguments of entry points: ids, lists of ids, labels, counts, masks, positives.

Each kind of argument is read, checked and refused here alone. Single values, such as cutoffs,
levels and choices, are checked by `irbatch.runtime.numbers`.
"""
