# `make demo` shows it at work, `make test` and `make test-slow` test it, `make check` is what a change must pass besides.
# `make docs` builds the site of docs/ into build/site, offline; a broken link or anchor fails it.
# `make schema` writes docs/cli-guard.schema.json anew, after a key of the configuration was added or described.
# `make man` writes a manual page for each command to build/man, from its help.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Bytecode is kept: without it each worker of the tests compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow warm check bench tasks schema man docs clean

demo: $(VENV)/.installed
	@$(BIN)/cli-guard demo

# Everything in process, and one hook path. CI takes the slow tests with it: `make test MARKED=`.
MARKED := -m 'not slow'
WORKERS := 2
test: $(VENV)/.developing
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(MARKED)

# Frameworks, installations, the server, processes, bash chains, bounds.
test-slow: $(VENV)/.developing
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m slow

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
	@$(BIN)/python benchmarks/agents.py
	@$(BIN)/python -m benchmarks.measured --quick
	@$(BIN)/python benchmarks/commands.py
	@$(BIN)/python benchmarks/attacks.py
	@$(BIN)/python -m benchmarks.english_requests
	@$(BIN)/python benchmarks/shell.py
	@$(BIN)/python benchmarks/processes.py
	@$(BIN)/python -m benchmarks.secret_findings
	@$(BIN)/python -m benchmarks.code_findings
	@$(BIN)/python -m benchmarks.routing

# The benchmark tasks of fixtures/tasks, each in a scratch world of its own.
tasks: $(VENV)/.developing
	@$(BIN)/python -m benchmarks.runner

schema: $(VENV)/.installed
	@$(BIN)/python -c 'import json; from cli_guard.policy.config import json_schema; print(json.dumps(json_schema(), indent=2))' > docs/.schema
	@mv docs/.schema docs/cli-guard.schema.json

man: $(VENV)/.developing
	@$(BIN)/python tests/man_pages.py build/man

# Into build/site.
docs: $(VENV)/.developing
	@$(BIN)/python -m mkdocs build

# A hook is run far more often than it is installed: our bytecode is compiled here. Of the 70 MB that this installs for a
# developer most is never loaded; Python compiles the rest when it first loads it.
define install
$(PYTHON) -m venv $(VENV)
$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '$(1)'
@$(BIN)/python -m compileall -q -j 0 cli_guard || true
endef

$(VENV)/.installed: pyproject.toml
	$(call install,.)
	@touch $@

# It holds what `demo` needs as well: found and built once.
$(VENV)/.developing: pyproject.toml
	$(call install,.[dev])
	@touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV)
