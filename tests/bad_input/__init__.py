"""Bad and borderline input: one table of problems, given at every public entrance."""
