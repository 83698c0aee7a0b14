"""`python -m frame_metrics`: the command line."""

from __future__ import annotations

import sys

from frame_metrics.cli import main

if __name__ == "__main__":
    sys.exit(main())
