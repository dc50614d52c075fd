"""Maps an experiment's cells to a table, verdicts and a figure: here, or on a Ray cluster.

A finished cell is a file; a run that was killed goes on where it stopped and ends with the same table.
"""

from recombine.engine.cells import Keep as Keep
from recombine.engine.conclude import conclude as conclude
from recombine.engine.conclude import plot as plot
from recombine.engine.overlap import Flight as Flight
from recombine.engine.request import RunRequest as RunRequest
from recombine.engine.run import Result as Result
from recombine.engine.run import execute as execute
from recombine.engine.run import load as load
from recombine.engine.run import prepare as prepare
