"""What things cost, measured beside what they are compared with, in one run."""
