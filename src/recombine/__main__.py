"""python -m recombine is the command line."""

import sys

from recombine.cli import main

sys.exit(main())
