"""The command line: one word for each command, and what happens when one goes wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from recombine.cli import streams
from recombine.core import UserError
from recombine.engine import catalogue

USAGE = """recombine: does a network recombine what it knows, or only remember it?

  recombine list                              experiments and own studies, and what has been run  (WORD, --claims)
  recombine run liang2025/stripes             run one: progress, verdicts, figure  (--tier quick|laptop|gpu|paper)
  recombine run liang2025/stripes --help      all of its settings  (--name LABEL: a folder of its own)
  recombine verdicts                          what the runs so far say  (NAME ..., --tier gpu, --markdown)
  recombine figure liang2025/stripes          plot the figure again from the table, into ./figures  (--format svg)
  recombine table liang2025/stripes           its columns, and their means per condition  (--csv: all rows)
  recombine compare NAME laptop gpu           two runs of one experiment side by side, or two folders
  recombine curve liang2025/amounts           each claim under every protocol variant: specification curves
  recombine verify                            results whose code has changed, and claims that cannot be judged so
  recombine board                             a page per paper with every claim and verdict  (--to docs/board)
  recombine correlate COLUMN COLUMN           do two columns go together over all networks trained?
  recombine import picbreeder SOURCE          evolved networks from their makers' files, for --artifacts
  recombine judge                             changed pictures before the offline judge and a vision-language model
  recombine diagnose FILE.npz                 does your own model compose or memorize? a report  (--demo; MODULE:MODEL)
  recombine layers MODULE:MODEL               what the layers of a PyTorch model are called
  recombine bench                             speed, side by side, as one line of JSON each

--debug before any command shows the whole traceback of an error. Results go to ./results (--out DIR, RECOMBINE_OUT).
Exit codes: 0 done, 1 an error of the program or of a study, 2 a mistake that one line explains, 3 every network of a
run diverged (its results are written), 4 verify --strict found something, 130 stopped by the user.
Compiled programs are kept in a cache folder; RECOMBINE_CACHE=DIR moves it, RECOMBINE_CACHE=off switches it off.
"""

COMMANDS = {
    "list": "list:list_experiments",
    "run": "run:run",
    "verdicts": "verdicts:verdicts",
    "figure": "figure:figure",
    "table": "table:table",
    "compare": "compare:compare",
    "curve": "curve:curve",
    "verify": "verify:verify",
    "board": "board:board",
    "correlate": "correlate:correlate",
    "import": "import_networks:import_networks",
    "judge": "judge:judge",
    "diagnose": "diagnose:diagnose",
    "layers": "diagnose:layers",
    "bench": "bench:bench",
}
"""Where each command lives; imported when it is called."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; whatever the user can fix is one line and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = words[:1] == ["--debug"]
    words = words[1:] if debug else words
    try:
        streams.check_words(words)
        return dispatch(words)
    except KeyboardInterrupt:
        streams.complain("stopped; what was finished is kept, and the same command goes on from there")
        return streams.INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        return 0
    except Exception as error:
        if debug:
            raise
        said, code = streams.explain(error)
        streams.complain(said)
        return code


def dispatch(words: list[str]) -> int:
    """Call the command that the first word names."""
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0
    if words[0] == "--version":
        import recombine

        print(recombine.__version__)
        return 0
    if words[0] not in COMMANDS:
        hint = catalogue.did_you_mean(words[0], list(COMMANDS))
        raise UserError(f"no command is called {words[0]!r}{hint}; 'recombine --help' shows all")
    module, _, function = COMMANDS[words[0]].partition(":")
    return getattr(import_module(f"recombine.cli.{module}"), function)(words[1:])


def entry() -> None:
    """The installed command."""
    streams.leave(streams.entered(main))
