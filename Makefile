# Everything needs only Python 3.11 (or newer) and make; the environment is made in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-slow soak lint format bench clean

.venv/ready: pyproject.toml constraints.txt ## what a user needs
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "recombine needs Python 3.11 or newer, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	touch $@

.venv/dev: .venv/ready ## tests, style and types
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: .venv/ready ## both first experiments, small: two verdict tables and two figures, one to two minutes of computing
	$(BIN)/recombine run liang2025/failure liang2025/stripes --seeds 5 --width 16 --steps 900 --out demo

test: .venv/dev ## the whole suite but the slow part
	$(BIN)/python -m pytest -n 2

test-slow: .venv/dev ## real training runs beside their landmarks: about six minutes
	$(BIN)/python -m pytest -m slow

soak: .venv/dev ## runs that are killed at random for SOAK_SECONDS (600): their tables must be those of unbroken ones
	$(BIN)/python tests/soak.py

lint: .venv/dev ## formatting, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyrefly check

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/ready ## a population against separate runs, on this machine
	$(BIN)/recombine bench population

clean:
	rm -rf .venv demo
