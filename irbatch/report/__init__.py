"""What reports have in common: names, numbers, tables and pages, in every form they are written."""
