"""python -m recombine.bench NAME."""

import sys

from recombine.bench import main

sys.exit(main(sys.argv[1:]))
