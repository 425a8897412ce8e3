# Every target works from a fresh clone, in a path with spaces, as root or as an ordinary user.
# `make env PYTHON=python3.12` uses another interpreter (>= 3.11).
PYTHON ?= python3
BIN := .venv/bin
# Number of processes that run the tests; more than processors, because many tests wait for processes that they start.
WORKERS ?= 3
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help env demo test test-fast test-live check soak bench format lock hooks stop reset static screenshots

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

env: .venv/requirements.stamp ## Create the virtual environment (.venv) with the pinned requirements
	@:

.venv/requirements.stamp: requirements-dev.txt
	@sh scripts/make_env.sh "$(PYTHON)" requirements-dev.txt

demo: env ## Start all services, process a sample conversation and show the result (ONCE=1: then stop)
	@"$(BIN)/python" manage.py demo $(if $(filter-out 0,$(ONCE)),--once)

test: env ## Run all tests (ARGS="tests/pipeline -x" for some; WORKERS=0: in one process)
	@"$(BIN)/python" -m pytest -n "$(WORKERS)" $(ARGS)

# Tests without database and processes, and one request through the whole product.
FAST := tests/pipeline tests/providers tests/contracts/test_in_memory_store.py tests/test_smoke.py
test-fast: env ## Run the pure tests and one through the database, in less than a minute
	@"$(BIN)/python" -m pytest -n "$(WORKERS)" $(FAST) $(ARGS)

soak: env ## Kill processes and the database under load, and draw examples, for longer than `test` does (TURNS=20000)
	@SOAK_TURNS="$(or $(TURNS),20000)" "$(BIN)/python" -m pytest tests/chaos \
	    $$(grep -rlE --include='test_*.py' 'from tests.soak import|import .*hostile_cases' tests) $(ARGS)

test-live: env ## Run ten turns against the real model (needs ANTHROPIC_API_KEY)
	@"$(BIN)/python" -m pytest tests/live -m live

check: env ## Check format, lint, types, import contracts, settings and migrations
	@"$(BIN)/ruff" format --check .
	@"$(BIN)/ruff" check .
	@"$(BIN)/lint-imports"
	@"$(BIN)/mypy"
	@"$(BIN)/python" manage.py check
	@"$(BIN)/python" manage.py makemigrations --check --dry-run
	@"$(BIN)/python" manage.py lint_migrations

bench: env ## Run the benchmarks (NAME=prefilter for one)
	@"$(BIN)/python" manage.py bench $(NAME) $(ARGS)

format: env ## Format the code and apply automatic fixes
	@"$(BIN)/ruff" format .
	@"$(BIN)/ruff" check --fix .

lock: env ## Compile requirements*.in into requirements*.txt (needs the package index)
	@sh scripts/lock.sh

hooks: env ## Install the pre-commit hooks into this clone
	@"$(BIN)/pre-commit" install

static: env ## Collect the static files into var/static
	@"$(BIN)/python" manage.py collectstatic --noinput

screenshots: env ## Save screenshots of the console in docs/images (needs Chromium)
	@"$(BIN)/python" scripts/screenshots.py

stop: ## Stop all processes of this checkout, including the database; the data stays
	@[ ! -x "$(BIN)/python" ] || PYTHONPATH=. "$(BIN)/python" scripts/stop.py

reset: ## Stop all processes and delete all local data (the database, var/)
	@[ ! -x "$(BIN)/python" ] || PYTHONPATH=. "$(BIN)/python" scripts/stop.py --delete
	@rm -rf var
