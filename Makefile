# `make demo` shows it at work, `make test` tests it, `make check` is what a change must pass besides.
# `make schema` writes docs/cli-guard.schema.json anew, after a key of the configuration was added or described.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test warm check bench schema clean

demo: $(VENV)/.installed
	@$(BIN)/cli-guard demo

test: $(VENV)/.developing
	@$(BIN)/python -m pytest -n 3 --dist worksteal

# Some minutes: the tests of the hooks without a server and by one, compared byte for byte.
warm: $(VENV)/.developing
	@$(BIN)/python tests/cold_and_warm.py

check: $(VENV)/.developing
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(VENV)/.developing
	@$(BIN)/python benchmarks/review.py
	@$(BIN)/python benchmarks/server.py
	@$(BIN)/python benchmarks/hooks.py --quick
	@$(BIN)/python benchmarks/commands.py
	@$(BIN)/python benchmarks/requests.py
	@$(BIN)/python benchmarks/shell.py
	@$(BIN)/python benchmarks/processes.py

schema: $(VENV)/.installed
	@$(BIN)/python -c 'import json; from cli_guard.policy.config import json_schema; print(json.dumps(json_schema(), indent=2))' > docs/.schema
	@mv docs/.schema docs/cli-guard.schema.json

# A hook is run far more often than it is installed: the bytecode is compiled here, once.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q $(VENV)/lib cli_guard || true
	@touch $@

$(VENV)/.developing: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV)
