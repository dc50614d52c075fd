"""The names of `import recombine as rc`, by noun; `recombine/__init__.py` reads this file.

A name is imported when it is first used. What is not here is imported from its module:
`from recombine.theory.interference import welch_bound`. At most 140 names.
"""

# ruff: noqa: I001

# nouns: what everything else is made of
from recombine.core import ABSENT as ABSENT
from recombine.core import Check as Check
from recombine.core import Claim as Claim
from recombine.core import Model as Model
from recombine.core import Record as Record
from recombine.core import Split as Split
from recombine.core import Task as Task
from recombine.core import UserError as UserError
from recombine.core import Variant as Variant

# random numbers: one stream for each purpose
from recombine.keys import key as key
from recombine.keys import rng as rng

# task: families of combinations, and what a network must answer
from recombine.tasks.bumps import bumps as bumps
from recombine.tasks.continuous import continuous_bumps as continuous_bumps
from recombine.tasks.hyperteacher import hyperteacher as hyperteacher
from recombine.tasks.preferences import masked_cross_entropy as masked_cross_entropy
from recombine.cppn.task import picture as picture
from recombine.tasks.preferences import preferences as preferences
from recombine.tasks.rotation import rotation as rotation
from recombine.tasks.preferences import step_accuracy as step_accuracy
from recombine.tasks.sums import sum_of_parts as sum_of_parts
from recombine.tasks.hyperteacher import teacher_of as teacher_of

# encoding: how the value of a part is given to a network
from recombine.encodings.position import Encoding as Encoding
from recombine.encodings.position import local_bump as local_bump
from recombine.encodings.position import one_hot as one_hot
from recombine.encodings.position import padded_bump as padded_bump
from recombine.encodings.position import positional as positional
from recombine.encodings.position import rate as rate
from recombine.encodings.position import scaled_rate as scaled_rate

# split: which combinations are held out
from recombine.splits.grid import corner as corner
from recombine.splits.grid import cross as cross
from recombine.splits.grid import gap as gap
from recombine.splits.grid import interior as interior
from recombine.splits.grid import narrow as narrow
from recombine.splits.grid import percent as percent
from recombine.splits.grid import random_fraction as random_fraction
from recombine.splits.grid import sample as sample
from recombine.splits.grid import square as square
from recombine.splits.grid import whole as whole

# intervention: one change to data or loss
from recombine.interventions.penalise import Ramp as Ramp
from recombine.interventions.augment import stripes as stripes
from recombine.interventions.penalise import weighted as weighted

# model: networks for one example
from recombine.models.cnn import CNNDecoder as CNNDecoder
from recombine.models.encoder import CNNEncoder as CNNEncoder
from recombine.cppn.network import CPPN as CPPN
from recombine.models.hypernetwork import Hypernetwork as Hypernetwork
from recombine.models.in_context import InContextTransformer as InContextTransformer
from recombine.models.mlp import MLPDecoder as MLPDecoder
from recombine.models.pixels import PixelMLP as PixelMLP
from recombine.models.rendering import Rendering as Rendering
from recombine.models.student import StudentMLP as StudentMLP
from recombine.models.transformer import TransformerDecoder as TransformerDecoder

# train: many networks in one program
from recombine.train.optimizers import adamw as adamw
from recombine.train.optimizers import adamw_cosine as adamw_cosine
from recombine.train.population import fit as fit
from recombine.train.population import initial_models as initial_models
from recombine.train.population import member_keys as member_keys
from recombine.train.optimizers import muon as muon
from recombine.train.population import population as population
from recombine.train.program import Recipe as Recipe
from recombine.train.optimizers import unit_adam as unit_adam

# record: what a network did
from recombine.recording.jacobians import layer_geometry as layer_geometry
from recombine.recording.records import load_model as load_model
from recombine.recording.records import load_record as load_record
from recombine.recording.records import record as record
from recombine.recording.records import records as records
from recombine.recording.records import save_model as save_model
from recombine.recording.records import save_record as save_record
from recombine.recording.records import truth as truth

# control: systems whose answer is known
from recombine.measures.controls import blind as blind
from recombine.measures.controls import nearest_memory as nearest_memory
from recombine.measures.controls import superposition as superposition

# measure: answers
from recombine.measures.error import error_map as error_map
from recombine.measures.error import errors as errors
from recombine.measures.peak import misplacement as misplacement
from recombine.measures.error import mse as mse
from recombine.measures.error import nmse as nmse
from recombine.measures.peak import peak_accuracy as peak_accuracy
from recombine.measures.peak import peak_map as peak_map
from recombine.measures.regression import r2_by_unit as r2_by_unit
from recombine.measures.regression import r2_pooled as r2_pooled

# measure: memories
from recombine.measures.similarity import agreement as agreement
from recombine.measures.similarity import and_kernel as and_kernel
from recombine.measures.similarity import cosine_matrix as cosine_matrix
from recombine.measures.memory import memory_superposition as memory_superposition
from recombine.measures.similarity import near as near
from recombine.measures.similarity import or_kernel as or_kernel
from recombine.measures.similarity import pearson as pearson
from recombine.measures.memory import superposition_score as superposition_score

# measure: layers
from recombine.measures.additive import additive_share as additive_share
from recombine.measures.probe import decodability as decodability
from recombine.measures.spectrum import effective_rank as effective_rank
from recombine.measures.geometry import factorisation as factorisation
from recombine.measures.geometry import finite_differences as finite_differences
from recombine.measures.probe import held_out_r2 as held_out_r2
from recombine.measures.geometry import hole_depth as hole_depth
from recombine.measures.geometry import log_volume as log_volume
from recombine.measures.geometry import metric as metric
from recombine.measures.grid import on_grid as on_grid
from recombine.measures.schmidt import schmidt_values as schmidt_values
from recombine.measures.geometry import volume as volume

# diagnosis: does a model of your own compose or memorize?
from recombine.diagnosis.doors import diagnose as diagnose

# table: one row per network
from recombine.table import by_seed as by_seed
from recombine.table import Cell as Cell
from recombine.table import cells as cells
from recombine.table import control as control
from recombine.table import control_rows as control_rows
from recombine.table import correlation_by_seed as correlation_by_seed
from recombine.table import difference as difference
from recombine.table import each as each
from recombine.table import each_of as each_of
from recombine.table import fitted as fitted
from recombine.table import log_ratio as log_ratio
from recombine.table import nan_if_diverged as nan_if_diverged
from recombine.table import networks as networks
from recombine.table import pick as pick
from recombine.table import reads as reads
from recombine.table import rows as rows
from recombine.table import value as value

# claim: holds, fails or undecided
from recombine.table import grouped_correlation as grouped_correlation
from recombine.claims.verdict import interval as interval
from recombine.claims.judging import judge as judge
from recombine.claims.judging import judge_all as judge_all

# CPPN: networks that draw pictures
from recombine.cppn.picbreeder import artifacts as artifacts
from recombine.cppn.task import grid as grid
from recombine.cppn.picbreeder import load_network as load_network
from recombine.cppn.task import load_picture as load_picture
from recombine.cppn.picbreeder import network as network
from recombine.cppn.picbreeder import render as render

# contract: what a task, a model or a measure of your own must keep
from recombine.contracts import check_encoding as check_encoding
from recombine.contracts import check_measure as check_measure
from recombine.contracts import check_model as check_model
from recombine.contracts import check_split as check_split
from recombine.contracts import check_task as check_task

# modules: whole, because their names are short
from recombine.cppn import designed as _designed
from recombine.cppn import gallery as _gallery
from recombine import plots as _plots
from recombine.splits import modules as _supports
from recombine.encodings import tasks as _task_encodings

designed = _designed
gallery = _gallery
plots = _plots
supports = _supports
task_encodings = _task_encodings

__version__: str
_WHERE: dict[str, str]
_MODULES: dict[str, str]
