"""Reading judgments and runs from files."""
