# Needs python3 >= 3.11 (with venv) and make, nothing else; everything is installed into $(VENV).
# Another interpreter: make test PYTHON=python3.12 VENV=.venv312
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.DEFAULT_GOAL := help
.PHONY: help demo test test-cluster test-cpus golden quick lint types unit coverage fuzz laws faults boundscheck test-versions resolve docs dist release-check bench public stale clean

help:
	@echo "make demo   install pydine into $(VENV) and run it on the diabetes data"
	@echo "make test   lint, types and the test suite"
	@echo "make coverage  the test suite, and the share of lines that it runs"
	@echo "make test-cluster  the tests on a Dask cluster and on Ray, with workers and drivers killed"
	@echo "make test-cpus  the test suite with the machine playing two older CPUs"
	@echo "make golden  every stored answer to nine digits, and a table of what has moved"
	@echo "make quick  the fast part of the test suite, in less than a minute"
	@echo "make fuzz   thousands of odd calls, hostile and edited files: a result or a sentence"
	@echo "make laws   laws of information on a thousand random datasets, into benchmarks/results/laws.md"
	@echo "make faults kills, full disks, flipped bits: nothing lost, the same numbers"
	@echo "make boundscheck  the tests of compiled code, with every index checked"
	@echo "make test-versions  the lowest and the newest versions of what pydine needs, on every Python there is here"
	@echo "make resolve  whether the lowest versions exist and go together, by the package index alone"
	@echo "make dist   build wheel and sdist, check them, and try the wheel in a clean environment"
	@echo "make release-check  make dist, versions, changelog, README's commands, and the interface beside the last tag"
	@echo "make docs   build the documentation site into build/site"
	@echo "make bench  install what the benchmarks need and list their commands"
	@echo "make public  a part of each public benchmark, in half an hour on two cores, into docs/public.md"
	@echo "make stale  list the benchmarks' tables that are not of the code as it is"
	@echo "make clean  remove $(VENV), caches and build products"

# Stamps record what has been installed, so that a second run starts at once. The install is editable:
# only a change of pyproject.toml makes it run again. `.installed-dev` and its like are groups of pyproject.toml.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("pydine needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + "; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	@touch $@

$(VENV)/.installed-%: $(VENV)/.installed
	$(BIN)/python scripts/environments.py $*
	@touch $@

# Stamps built by the pattern rule above are kept, not treated as intermediate files.
.PRECIOUS: $(VENV)/.installed-%

demo: $(VENV)/.installed
	$(BIN)/python -m pydine.demo

test: lint types unit

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# Bytecode is kept whatever the environment says: pytest would have to rewrite every test file again in each run.
unit quick coverage: export PYTHONDONTWRITEBYTECODE =

unit: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not cluster"

# With the share of lines that the tests run, and the least share that is allowed ([tool.coverage] of pyproject.toml).
coverage: $(VENV)/.installed-dev $(VENV)/.installed-coverage
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not cluster" --cov

# All of it: 60 columns on Dask and on Ray, with workers and drivers killed. A few columns on Dask are in `make test`.
test-cluster: $(VENV)/.installed-dev $(VENV)/.installed-cluster
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/cluster tests/work/test_engines.py

# The whole suite, with the machine playing an older CPU after the other.
test-cpus: $(VENV)/.installed-dev
	for cpu in haswell nehalem; do $(BIN)/python scripts/play_cpu.py $$cpu $(BIN)/python -m pytest -n 2 -m "not cluster" || exit 1; done

# After a change that is meant to move answers: make golden WRITE=1
golden: $(VENV)/.installed-dev
	PYTHONPATH=tests OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m golden.master $(if $(WRITE),--write)

quick: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow and not cluster"

fuzz: $(VENV)/.installed-dev
	PYTHONPATH=tests OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz.run

laws: $(VENV)/.installed-dev
	PYTHONPATH=tests OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m laws.run

# Compiled once more, into a folder of its own: without checks an index beyond an array reads or writes whatever is there.
# The models that somebody made up are among them. A part of it: make boundscheck ONLY=tests/kernels
BOUNDSCHECKED := tests/kernels tests/units tests/latents tests/bases tests/questions/test_saved.py tests/fuzz
boundscheck: $(VENV)/.installed-dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/boundscheck OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest -n 2 $(or $(ONLY),$(BOUNDSCHECKED))

faults: $(VENV)/.installed-dev
	PYTHONPATH=tests OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz.loop

# A part of it: make test-versions ONLY=3.11-lowest
test-versions: $(VENV)/.made
	$(BIN)/python scripts/test_versions.py $(if $(ONLY),--only $(ONLY))

# The part of it that continuous integration runs: do the lowest versions exist, and go together?
resolve: $(VENV)/.made
	$(BIN)/python scripts/test_versions.py --resolve

dist: $(VENV)/.installed-release
	$(BIN)/python scripts/distribution.py

# All that can be checked of a release before it is tagged; what it leaves in dist/ is what is uploaded.
release-check: $(VENV)/.installed-release
	$(BIN)/python scripts/release_check.py

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q docs build/site
	@echo "Open build/site/index.html"

bench: $(VENV)/.installed-bench
	@echo "Each benchmark is one command and writes its table under benchmarks/results/:"
	@echo "  $(BIN)/python benchmarks/accuracy.py     error against the oracle on the paper's datasets"
	@echo "  $(BIN)/python benchmarks/intervals.py    coverage of the intervals on independent datasets, into the same table"
	@echo "  $(BIN)/python benchmarks/interval_scores.py --before FOLDER  coverage and score of intervals, beside another version"
	@echo "  $(BIN)/python benchmarks/conditional.py  error when Z moves location and scale of both sides"
	@echo "  $(BIN)/python benchmarks/independence.py level and power of the independence test"
	@echo "  $(BIN)/python benchmarks/test_power.py   power of the test for weak dependence of any shape, beside peers"
	@echo "  $(BIN)/python benchmarks/public_mcmiknn.py  mixed columns, after the suite of mCMIkNN, beside its p-values"
	@echo "  $(BIN)/python benchmarks/public_lcit.py  up to 100 columns in Z, after the simulation of LCIT, beside its figures"
	@echo "  $(BIN)/python benchmarks/shapes.py       dependence of any shape, and none, beside KSG and others"
	@echo "  $(BIN)/python benchmarks/mixed.py        columns of any kind: published tasks and other families"
	@echo "  $(BIN)/python benchmarks/labels.py       labels by the hundred: tables, numbers, and given either"
	@echo "  $(BIN)/python benchmarks/consistency.py  error, coverage and time against the number of rows"
	@echo "  $(BIN)/python benchmarks/edges.py        many columns a side and in Z, strong dependence"
	@echo "  $(BIN)/python benchmarks/public_mutinfo.py    strong dependence: mutinfo's families, beside what it published"
	@echo "  $(BIN)/python benchmarks/public_lmi.py        many columns a side: the grid of latent mutual information"
	@echo "  $(BIN)/python benchmarks/codes.py        codes in Z that act by order, by level, or by their sum modulo m"
	@echo "  $(BIN)/python benchmarks/next_questions.py  differences, interactions and rows needed: coverage, level, power"
	@echo "  $(BIN)/python benchmarks/real_z.py       Z of real tables with a known truth, beside GCM and regression"
	@echo "  $(BIN)/python benchmarks/mixed_level.py  level and power of the test on columns of any kind"
	@echo "  $(BIN)/python benchmarks/mixed_speed.py  speed on columns of any kind, beside phik, ppscore and CMIknnMixed"
	@echo "  $(BIN)/python benchmarks/beyond_normal.py --samples DIR  a public benchmark (samples: beyond_normal_peers.py)"
	@echo "  $(BIN)/python benchmarks/pairwise.py     all pairs of a table: time and memory, beside peers"
	@echo "  $(BIN)/python benchmarks/graphs.py            causal graphs of up to 107 columns: time, edges, intervals, stability"
	@echo "  $(BIN)/python benchmarks/causal_discovery.py  skeletons of random graphs with PC, beside other tests"
	@echo "  $(BIN)/python benchmarks/selection.py    Markov blankets and scores of selected features, beside peers"
	@echo "  $(BIN)/python benchmarks/wide.py         all pairs of 10,000 columns: time and memory"
	@echo "  $(BIN)/python benchmarks/engines.py      the same bits on every engine, bytes, kills (engines: make test-cluster)"
	@echo "  $(BIN)/python benchmarks/cost_model.py   seconds and bytes of units, pairs and rows, and what others would take"
	@echo "  $(BIN)/python benchmarks/rows.py --rows 1e8  a table beyond memory: time, memory, and the same in memory"
	@echo "  $(BIN)/python benchmarks/tuning.py       what tuning by held-out likelihood gains and costs"
	@echo "  $(BIN)/python benchmarks/beside.py FOLDER  time beside another version, cloned into FOLDER"
	@echo "  $(BIN)/python benchmarks/tables.py FOLDER  time of rank and report, beside another version, cloned into FOLDER"
	@echo "  $(BIN)/python benchmarks/partitions.py   how far another partition into folds would move an answer"
	@echo "  $(BIN)/python benchmarks/sensitivity.py  how far answers move if a number that was chosen is halved or doubled"
	@echo "  $(BIN)/python benchmarks/stability.py    what moves an answer: CPUs, seeds, orders of rows and columns"
	@echo "  $(BIN)/python benchmarks/startup.py      time of a command from the prompt to the answer"
	@echo "  $(BIN)/python benchmarks/speed.py        time against KCI and KSG, and growth with n"
	@echo "  $(BIN)/python benchmarks/public.py       a part of each public benchmark, onto one page (make public)"
	@echo "  $(BIN)/python benchmarks/paper.py mi | cmi | cit | convergence  the paper's experiments, with every competitor"
	@echo "  $(BIN)/python benchmarks/results_page.py  writes docs/results.md from what they left"

# Files of networks and a generator of graphs, without the packages that these want beside them; what cannot be had is
# left out, and the page says so.
NETWORKS := "pgmpy>=1.0" "manm-cs==0.1.6" pathos dill ppft multiprocess pox validation six
public: $(VENV)/.installed-bench
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/networks $(NETWORKS) || true
	PYTHONPATH=build/networks $(BIN)/python benchmarks/public.py

stale: $(VENV)/.installed
	$(BIN)/python benchmarks/stale.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
