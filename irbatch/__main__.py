"""`python -m irbatch`, the same as `irbatch`."""

from irbatch.cli import run

if __name__ == "__main__":
    run()
