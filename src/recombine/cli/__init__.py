"""The command line: the only place that prints, or reads the environment."""

from recombine.cli.main import entry as entry
from recombine.cli.main import main as main
