"""Generated input for what reads some: rejected, or as a slow twin or another way says."""
