"""``python -m pathtrace`` is ``pathtrace``."""

import sys

from pathtrace.cli import main

if __name__ == "__main__":
    sys.exit(main())
