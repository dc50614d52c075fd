"""python -m recombine.bench NAME."""

import sys

from recombine.bench import main
from recombine.core import UserError

try:
    sys.exit(main(sys.argv[1:]))
except UserError as error:
    sys.exit(f"recombine: {error}")
