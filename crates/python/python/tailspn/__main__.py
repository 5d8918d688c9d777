"""``python -m tailspn`` is the command ``tailspn``."""

import sys

from tailspn._cli import main

if __name__ == "__main__":
    sys.exit(main())
