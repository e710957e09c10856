"""``python -m shimtorch`` is the ``shimtorch`` command."""

import sys

from shimtorch._shim.cli import main

if __name__ == "__main__":
    sys.exit(main())
