"""`python -m srcad.cli` is `srcad`."""

import sys

from srcad.cli import main

if __name__ == "__main__":
    sys.exit(main())
