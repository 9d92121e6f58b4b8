# Every command of the course in one place; `make help` lists them. GNU make 3.81 or later.
# Two stamps in .venv say what is installed: the students' packages, and those for people who change the course.

VENV := .venv
PY := $(VENV)/bin/python
AUDIT := build/audit/.ready
GRADING := build/grading/packages/.ready
STUDENT := $(VENV)/.students-ready
DEV := $(VENV)/.dev-ready
PIP := "$(PY)" -m pip install --quiet --disable-pip-version-check -c constraints.txt
OURS := --no-deps --no-build-isolation -e ./autograd_graphs -e .
IPYTHON := build/ipython
PACKAGES := $(CURDIR)/build/grading/packages
WITH_GRADING := mkdir -p $(IPYTHON) && PYTHONPATH="$(PACKAGES)" IPYTHONDIR="$(CURDIR)/$(IPYTHON)"
# One thread of torch: small tensors on two busy cores wait for each other, and a step of training takes 25 times as long.
PYTEST := mkdir -p $(IPYTHON) && OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= PYTHONPATH="tests:$(PACKAGES)" IPYTHONDIR="$(CURDIR)/$(IPYTHON)" "$(PY)" -m pytest
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout=60 --nbval-sanitize-with=tests/nbval_sanitize.cfg
TWO := -n 2 --dist loadfile
PATCH := -p nbval_patch
QUICK := not notebooks and not browser and not slow and not thorough
NOTEBOOKS = notebooks$(if $(N),/$(N)*.ipynb)
PYTHON ?= python3.11 python3.12 python3.13 python3.14 python3 python
LAB_ARGS ?=
LOCK_ARGS ?=
# Advisories that may stand for now, each with a comment here: why it does no harm, and what we wait for.
STANDING :=
AUDIT_ARGS ?=
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# A processor that has neither AVX nor Intel's name, as far as PyTorch and its libraries can pretend to be on one.
OTHER := ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help lab present slides handouts pages assignment grade reset test quick check thorough unit compare elsewhere refresh rounds record-gpu release lint format lock audit next bench clean browser-ready sandbox-ready own

##@ For those who learn and teach (docs/without-make.md says how to do it without make)

help:  ## list these commands
	@sed -n -e 's/^##@ //p' -e 's/^\([a-z][a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | \
	  awk -F'|' 'NF == 1 { print } NF == 2 { printf "  %-17s %s\n", $$1, $$2 }'

lab: $(STUDENT)  ## copy the lessons into work/ and open JupyterLab there (LAB_ARGS="--no-browser")
	@"$(PY)" -P course/lab_settings.py
	@"$(PY)" -P course/workspace.py sync
	@echo "JupyterLab is starting. In a few seconds it opens lesson 00 in your browser; Ctrl+C here ends it."
	@cd work && exec "../$(PY)" -m jupyterlab --log-level=WARN $(AS_ROOT) --LabApp.default_url=/lab/tree/00_start_here.ipynb $(LAB_ARGS)

reset: $(STUDENT)  ## get a fresh copy of one lesson and keep the old one (N=03)
	@"$(PY)" -P course/workspace.py reset $(N)

present: $(STUDENT)  ## present live: decks with a kernel (all, N=05, ROUTE=day or week-2, NOTEBOOK=mine.ipynb, TRUST=yes for its scripts)
	@"$(PY)" -m course.present "$(or $(NOTEBOOK),$(N))" $(if $(TRUST),--trust) $(if $(ROUTE),--route=$(ROUTE))

slides: $(STUDENT)  ## each lesson as slides in one file, which needs no network: build/slides/
	@"$(PY)" -m course.publish notebooks --to slides -o build/slides

handouts: $(STUDENT)  ## questions and answers to print, made with Chromium: build/handouts/
	@"$(PY)" -m course.handouts notebooks -o build/handouts

pages: $(DEV)  ## the lessons as pages, to open from disk or put on any static host: build/pages/
	@"$(PY)" -m course.publishing.site notebooks -o build/pages

##@ For those who mark, on Linux; see classroom/grading.md

assignment: $(DEV) $(GRADING)  ## an nbgrader assignment made from the lessons' exercises (N="03 05"): assignments/
	@$(WITH_GRADING) "$(PY)" -m classroom.assignment $(N)

grade: $(DEV) $(GRADING)  ## grade what was handed in, in a sandbox (on Linux, with bubblewrap; N="03 05"): assignments/points/
	@$(WITH_GRADING) "$(PY)" -m classroom.grade $(N) $(GRADE_ARGS)

##@ For those who change the course

test: $(DEV)  ## what a change has to pass: lint, tests, browsers, every output of every notebook
	@$(MAKE) --no-print-directory --keep-going lint $(if $(filter true,$(CI)),browser-ready) unit compare ONLY="not thorough"

quick: $(DEV)  ## lint and the quick tests, while you work: no notebook, no browser, nothing long
	@$(MAKE) --no-print-directory --keep-going lint unit ONLY="$(QUICK)"

check: $(DEV)  ## one lesson: lint, rules, exercises, claims, every output (N=03)
	@$(if $(N),,echo 'Say which lesson: make check N=03' >&2; exit 2)
	@"$(PY)" -m ruff check --quiet $(NOTEBOOKS) && "$(PY)" -m ruff format --check --quiet $(NOTEBOOKS)
	@$(PYTEST) -q -n 2 --dist load -k "$(N)" tests/test_notebooks.py tests/test_exercises.py
	@$(PYTEST) -q $(PATCH) $(NBVAL) $(NOTEBOOKS)

thorough: $(DEV)  ## what make test leaves out: stress, sandboxes, other versions, the other lessons in a browser
	@$(MAKE) --no-print-directory --keep-going $(if $(filter true,$(CI)),browser-ready sandbox-ready) unit ONLY="thorough"

unit: $(DEV) $(GRADING)  ## the tests in tests/ (ONLY="browser" for those with one mark)
	@$(PYTEST) $(TWO) $(if $(ONLY),-m "$(ONLY)") $(if $(findstring not browser,$(ONLY)),--ignore=tests/browser) tests

compare: $(DEV)  ## run the notebooks and compare every output with the stored one (N=03)
	@$(PYTEST) $(TWO) $(PATCH) $(NBVAL) $(NOTEBOOKS)

# Where changes are checked the browser tests must run: install Chromium if there is none (Debian, as root), or fail.
browser-ready: $(DEV)
	@"$(PY)" tests/browser/chromium.py

# There students' code is graded, too: install bubblewrap if it is missing (Debian, as root); elsewhere its tests are skipped.
sandbox-ready:
	@command -v bwrap >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	  { apt-get update -qq && apt-get install --yes --no-install-recommends bubblewrap; }

elsewhere: $(DEV)  ## compare as on another processor, where the last digits of floats differ (N=03)
	@$(OTHER) $(MAKE) --no-print-directory compare

refresh: $(DEV)  ## run the notebooks again and store their outputs (N=03 for one of them)
	@mkdir -p $(IPYTHON) && OMP_NUM_THREADS=1 IPYTHONDIR="$(CURDIR)/$(IPYTHON)" "$(PY)" tests/refresh.py $(N)

rounds: $(DEV)  ## the lessons at a glance: rounds, minutes, complaints (N=05)
	@PYTHONPATH=tests "$(PY)" -m notebook_rules $(N)

record-gpu: $(DEV)  ## on a machine with a GPU: record what the GPU cells of lessons 10 and 15 show there
	@"$(PY)" -m helpers.gpu record
	@$(MAKE) --no-print-directory refresh N=10
	@$(MAKE) --no-print-directory refresh N=15

release: $(DEV) slides pages handouts  ## what a release hands out: both distributions, slides, pages, handouts: build/release/
	@rm -rf build/release && mkdir -p build/release
	@"$(PY)" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w build/release ./autograd_graphs .
	@for made in slides pages handouts; do (cd build && "../$(PY)" -m zipfile -c release/$$made.zip $$made) || exit 1; done
	@ls build/release

lint: $(DEV)  ## ruff: lint and format, changing nothing
	@status=0; \
	"$(PY)" -m ruff check --quiet . || status=1; \
	"$(PY)" -m ruff format --check --quiet . || { echo 'Some files are not formatted: run `make format`.'; status=1; }; \
	exit $$status

format: $(DEV)  ## ruff: fix imports and layout
	@"$(PY)" -m ruff check --quiet --fix . ; "$(PY)" -m ruff format .

lock: $(PY)  ## write constraints.txt from the two requirement files (LOCK_ARGS=--upgrade for newer versions)
	@"$(PY)" -m venv --clear build/lock
	@build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	@build/lock/bin/uv pip compile --quiet $(LOCK_ARGS) --universal --python-version 3.11 --no-annotate --no-header \
	  --no-emit-index-url --no-emit-find-links requirements.txt requirements-dev.txt classroom/requirements.txt -o constraints.txt
	@build/lock/bin/python tests/wheels.py build/lock/bin/uv

audit: $(AUDIT)  ## look up known advisories on the locked packages that this system uses (AUDIT_ARGS="-s osv" for another service)
	@build/audit/bin/python -m pip_audit --strict --no-deps --disable-pip -r constraints.txt $(addprefix --ignore-vuln ,$(STANDING)) $(AUDIT_ARGS)

next: $(PY)  ## run the lessons on another torch and list the cells whose output changes (TORCH=2.14.0; N=03 FROM=wheels/)
	@"$(PY)" tests/next_torch.py --torch="$(TORCH)" --wheels="$(FROM)" --index="$(TORCH_INDEX)" \
	  --notebooks $(NOTEBOOKS) -- $(PATCH) $(NBVAL)

bench: $(DEV)  ## time pictures, players, imports and watching (ONLY=growth ROUNDS=5): build/bench/
	@"$(PY)" -m benchmarks $(ONLY) $(if $(ROUNDS),--rounds $(ROUNDS))

clean:  ## remove what was installed and built; work/ and assignments/ stay
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment that another copy of the course uses would from now on run this one's code there, too.
own:
	@[ ! -L $(VENV) ] || { echo '$(VENV) is a link, and installing through it would change the copy of the course that it leads to.' >&2; \
	  echo 'Remove the link (rm $(VENV)), then run the command again: it makes an environment for this folder.' >&2; exit 1; }
	@[ ! -s $(STUDENT) ] || [ "$$(cat $(STUDENT))" = "$(CURDIR)" ] || { \
	  echo "$(VENV) was installed for $$(cat $(STUDENT)), and not for this folder." >&2; \
	  echo 'Run make clean, which keeps work/, then the command again: it makes an environment for this folder.' >&2; exit 1; }

# A missing or dangling interpreter: make a new environment with the first Python that is new enough and has venv.
$(PY): | own
	@for python in $(PYTHON); do \
	  if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Making $(VENV) with $$python ..."; \
	    exec "$$python" -m venv --clear $(VENV); \
	  fi; \
	done; \
	echo 'No Python 3.11 or newer with the venv module was found; tried: $(PYTHON).' >&2; \
	echo 'The course needs one. Install it (Debian and Ubuntu: also python3-venv), or say where it is: make lab PYTHON=/path/to/python3' >&2; \
	exit 1

$(GRADING): $(PY) classroom/grading-requirements.txt
	@echo 'Installing nbgrader into build/grading/packages ...'
	@$(PIP) --no-deps --upgrade --target build/grading/packages -r classroom/grading-requirements.txt
	@touch $@

$(STUDENT): $(PY) requirements.txt constraints.txt pyproject.toml autograd_graphs/pyproject.toml
	@rm -f $(DEV)
	@"$(PY)" -m pip --version >/dev/null 2>&1 || "$(PY)" -m ensurepip >/dev/null
	@echo 'Installing what the lessons need (once; torch is large) ...'
	@$(PIP) -r requirements.txt
	@$(PIP) $(OURS)
	@echo "$(CURDIR)" > $@

$(DEV): $(STUDENT) requirements-dev.txt classroom/requirements.txt
	@echo 'Installing what the tests need ...'
	@$(PIP) -r requirements.txt -r requirements-dev.txt -r classroom/requirements.txt
	@$(PIP) $(OURS)
	@touch $@

$(AUDIT): $(PY)
	@echo 'Installing pip-audit into build/audit ...'
	@"$(PY)" -m venv --clear build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	@touch $@
