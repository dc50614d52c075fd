"""Turns a table of runs and a Claim into a verdict: holds, fails or undecided, by a rule stated beforehand.

An effect has one number per training seed, or a column of them for each rival, picture or depth. It *holds* if the 95 %
interval of every column lies within the bounds (an intersection-union test: no correction is needed), and *fails* if
the interval of one column lies outside, at a level that is corrected for their number. `docs/rules.md` tabulates how
often each rule errs.
"""

from recombine.claims.judging import decide as decide
from recombine.claims.judging import failed as failed
from recombine.claims.judging import judge as judge
from recombine.claims.judging import judge_all as judge_all
from recombine.claims.judging import judge_variants as judge_variants
from recombine.claims.judging import turns as turns
from recombine.claims.verdict import MIN_SEEDS as MIN_SEEDS
from recombine.claims.verdict import Part as Part
from recombine.claims.verdict import Verdict as Verdict
from recombine.claims.verdict import interval as interval
