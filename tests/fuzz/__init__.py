"""Generated and damaged inputs for everything that reads one: `python -m tests.fuzz --help`.

A target makes inputs and checks one property of each: it is taken, and what comes of it is what a
slow twin or another way says; or it is refused with an `InputError`. An input is a Python literal,
so that one that breaks a property can be printed, made smaller, and kept in `corpus`.
"""
