"""`python -m irbatch`, the same as `irbatch`."""

import sys

from irbatch.cli import main

if __name__ == "__main__":
    sys.exit(main())
