# Every target works from a fresh clone, in a path with spaces, as root or as an ordinary user.
# `make env PYTHON=python3.12` uses another interpreter (>= 3.11).
PYTHON ?= python3
BIN := .venv/bin
# Number of processes that run the tests; more than processors, because many tests wait for processes that they start.
WORKERS ?= 3
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help env demo-env wheels demo test test-fast test-live check client-models generated-clients soak bench format lock hooks stop reset static screenshots tour

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

env: ## Create the virtual environment (.venv) with the pinned requirements
	@cmp -s requirements-dev.txt .venv/requirements-dev.stamp || sh scripts/make_env.sh "$(PYTHON)" requirements-dev.txt

# The demo needs neither the test tools nor the checks; an environment that has them will do.
demo-env:
	@cmp -s requirements-dev.txt .venv/requirements-dev.stamp || sh scripts/make_env.sh "$(PYTHON)" requirements.txt

wheels: env ## Build packages of the server and of the Python client into var/wheels
	@sh scripts/wheels.sh

demo: demo-env ## Start all services, process a sample conversation and show the result (ONCE=1: then stop)
	@"$(BIN)/python" manage.py demo $(if $(filter-out 0,$(ONCE)),--once)

test: env ## Test all promises of docs/testing.md (ARGS="tests/pipeline -x" for some; WORKERS=0: in one process)
	@"$(BIN)/python" -m pytest -n "$(WORKERS)" -m "not soak" $(ARGS)

# Tests without database and processes, and one request through the whole product.
FAST := tests/pipeline tests/providers tests/contracts/test_in_memory_store.py tests/test_smoke.py
test-fast: env ## Run the pure tests and one through the database, in less than a minute
	@"$(BIN)/python" -m pytest -n "$(WORKERS)" -m "not soak" $(FAST) $(ARGS)

soak: env generated-clients ## Run what takes long: TURNS=20000 turns under kills, 500 examples of each property, every window
	@SOAK_TURNS="$(or $(TURNS),20000)" "$(BIN)/python" -m pytest -m "soak or longer or hypothesis" $(ARGS)

test-live: env ## Run ten turns against the real model (needs ANTHROPIC_API_KEY)
	@"$(BIN)/python" -m pytest tests/live -m live

check: env ## Check format, lint, types, import contracts, settings and migrations
	@"$(BIN)/ruff" format --check .
	@"$(BIN)/ruff" check .
	@"$(BIN)/lint-imports"
	@"$(BIN)/mypy"
	@cd clients/python && ../../"$(BIN)/mypy"
	@"$(BIN)/python" manage.py check
	@"$(BIN)/python" manage.py makemigrations --check --dry-run
	@"$(BIN)/python" manage.py lintmigrations --quiet ok

client-models: env ## Write the models of the clients from the OpenAPI document (those of TypeScript need npm)
	@"$(BIN)/python" scripts/client_models.py
	@"$(BIN)/python" -m scripts.client_types

generated-clients: env ## Generate Python and TypeScript clients from the OpenAPI document and compile them (needs npm)
	@sh scripts/generated_clients/check.sh

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

screenshots: env ## Save screenshots of the console in docs/images; ALL=1: of every page, in var/screenshots (needs Chromium)
	@"$(BIN)/python" -m scripts.screenshots $(if $(ALL),--all)

tour: env ## Record the README's tour of the console, docs/images/tour.gif (needs Chromium and ffmpeg)
	@"$(BIN)/python" -m scripts.tour

stop: ## Stop all processes of this checkout, including the database; the data stays
	@[ ! -x "$(BIN)/python" ] || "$(BIN)/python" manage.py stop

reset: ## Stop all processes and delete all local data (the database, var/)
	@[ ! -x "$(BIN)/python" ] || "$(BIN)/python" manage.py stop --delete
	@rm -rf var
