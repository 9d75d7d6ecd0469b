"""Bad and borderline input, row by row, at every public entrance."""
