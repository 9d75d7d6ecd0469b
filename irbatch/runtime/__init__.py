"""How code runs: kernels, threads, files, progress, extras, exact sums, ragged arrays."""
