"""What a Makefile, a justfile or a Taskfile runs by another way than the line of a recipe that is named.

Each Makefile is also tried with the real make: HARM is a command that leaves a file behind, or a push for the judge.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from examples import examples, near_misses
from in_process import guard
from repositories import Repo, isolated_environment

from cli_guard.commands import judge
from cli_guard.commands.model import Profile
from cli_guard.execution.context import command_context
from cli_guard.model import Decision

# A Makefile, what stands in a second file, and the command.
MAKEFILES = [
    ("X := $(shell HARM)\nall:\n\techo", "", "make all"),
    ("X := $(shell HARM)\nall:\n\techo", "", "make -n all"),
    ("X != HARM\nall:\n\techo", "", "make -q all"),
    ("ifeq ($(shell HARM),)\nendif\nall:\n\techo", "", "make nothing"),
    ("X = $(shell HARM)\nall:\n\techo $(X)", "", "make -n all"),
    ("all:\n\techo $(or $(shell HARM),x)", "", "make"),
    ("define X\necho\nHARM\nendef\nall:\n\t$(X)", "", "make"),
    ("X = $(1)\nall:\n\t$(call X,HARM)", "", "make"),
    ("Y = HARM\nX = $(1)\nall:\n\t$(call X,$(if $(Z),a,$(Y)))", "", "make"),
    ("all:\n\t$(foreach x,HARM,$(x))", "", "make"),
    ("X = HARM\nall:\n\t$(X:%=%)", "", "make"),
    ("all:\n\t$(subst @,,@HARM@)", "", "make"),
    ("X = echo\nX += ; HARM\nall:\n\t$(X)", "", "make"),
    ("ifdef CI\nX = echo\nelse\nX = HARM\nendif\nall:\n\t$(X)", "", "make"),
    ("all: X = HARM\nall:\n\t$(X)", "", "make"),
    ("X = Y\n$(X) = HARM\nall:\n\t$($(X))", "", "make"),
    ("all:\n\t$(X)", "", "make X='HARM'"),
    ("X ?= echo\nall:\n\t$(X)", "", "make X='HARM'"),
    ("X ?= echo\nall: ship\nship:\n\t$(X)", "", "make X='HARM'"),
    ("X ?= echo\nall:\n\t$(MAKE) ship\nship:\n\t$(X)", "", "make X='HARM'"),
    ("all:\n\tprintf 'all: ; HARM' > o.mk\n\t$(MAKE) -f o.mk", "", "make"),
    ("all:\n\t$(MAKE) ship X='HARM'\nship:\n\t$(X)", "", "make"),
    ("export X = HARM\nall:\n\t$(MAKE) -f other.mk", "all:\n\t$(X)", "make"),
    ("include other.mk\nall:\n\techo", "X := $(shell HARM)", "make all"),
    ("O = other\n-include $(O).m?\nall: ship", "ship:\n\tHARM", "make all"),
    ("all: ship\n$(eval include other.mk)", "ship:\n\tHARM", "make"),
    ("include other.mk\nall:\n\techo\nother.mk: now\n\tHARM\nnow:", "#", "make -n all"),
    ("all:\n\techo\nMakefile: now\n\tHARM\nnow:", "", "make -n all"),
    ("all:\n\techo", "all:\n\tHARM", "make -f other.mk"),
    ("all:\n\techo", "all:\n\tHARM", "make -f Makefile -f other.mk"),
    ("all:\n\t+HARM", "", "make -n all"),
    ("P = +\nall:\n\t$(P)HARM", "", "make -n all"),
    ("all:\n\t$(MAKE) -v; HARM", "", "make --dry-run all"),
    ("all:\n\t$(MAKE) -f other.mk", "all:\n\t+HARM", "make -n"),
    ("all: a.x\n%.x:\n\tHARM", "", "make"),
    ("all: a.x\n%.x: %.y\n\techo\n%.y:\n\tHARM", "", "make"),
    ("%:\n\tHARM", "", "make anything"),
    (".DEFAULT:\n\tHARM", "", "make anything"),
    ("ship-%:\n\tHARM", "", "make ship-it"),
    ("a.x b.x: %.x: %.y\n\tHARM\n%.y: ;", "", "make a.x"),
    ("all: | a\na:\n\tHARM", "", "make"),
    ("all: ; HARM", "", "make"),
    ("all:: \n\techo\nall::\n\tHARM", "", "make"),
    ("ALL = $(addprefix a-,b)\nall: $(ALL)\na-b:\n\tHARM", "", "make"),
    ("all:\n\techo\n.DEFAULT_GOAL := ship\nship:\n\tHARM", "", "make"),
    ("SHELL = HARM\nall:\n\techo", "", "make"),
    (".SHELLFLAGS = -c 'HARM' --\nall:\n\techo", "", "make"),
    (".ONESHELL:\nall:\n\tX='\n\tHARM'\n\t$$X", "", "make"),
    (".RECIPEPREFIX = >\nall:\n>HARM", "", "make"),
    ("all: \\\n  ship\nship:\n\tec\\\n\tho; HARM", "", "make"),
    ("define R\nall:\n\tHARM\nendef\n$(eval $(R))", "", "make"),
    ("$(foreach x,ship,$(eval $(x): ; HARM))\nall: ship", "", "make all"),
    ("all:\n\t@-HARM # echo", "", "make"),
    ("all:\n\t$(MAKE) -f Makefile x --eval='x:;HARM'", "", "make all"),
    ("export MAKEFILES = other.mk\nall:\n\t$(MAKE) x\nx:", "Y := $(shell HARM)", "make"),
    (".SECONDEXPANSION:\nall: $$(shell HARM)", "", "make all"),
    ("include $(wildcard *.mk)\nall: ship", "ship:\n\tHARM", "make"),
    ("all:\n\t@: $(info $(shell\tHARM))", "", "make"),
    ("override define X =\nHARM\nendef\nall : ; ${X}", "", "make"),
    ("X = Y\nY = HARM\nall:\n\t$(call $(X))", "", "make"),
    ("all:\r\n\tHARM", "", "make"),
    ("all:\n\techo", "all:\n\tHARM", "make -fother.mk"),
    ("all:\n\techo", "all:\n\tHARM", "make --file=other.mk all"),
    ("X ?= HARM\nX ?= echo\nall:\n\t$(X)", "", "make"),
    ("X := HARM\nY := $(X)\nX := echo\nall:\n\t$(Y)", "", "make"),
    ("all: a\na: X := HARM\na: ; $(X)", "", "make"),
    ("all:\n\t$(if a,HARM,)", "", "make"),
    ("all: %: \n\tHARM", "", "make"),
    ("define X\necho $(1)\n$(2)\nendef\nall:\n\t$(call X,a,HARM)", "", "make"),
    ("all:\n\tfor x in other.mk; do $(MAKE) -f $$x; done", "all:\n\tHARM", "make"),
    ("$(file >other.mk,all: ; HARM)\ninclude other.mk", "", "make all"),
]
HARMLESS = [
    ("X := $(shell git describe)\nall:\n\techo $(X)", "", "make all"),
    ("all:\n\techo\nship:\n\tgit push", "", "make all"),
    ("all:\n\tgit push", "", "make -n all"),
    ("include other.mk\n-include missing.mk\nall: test", "test:\n\tpytest -q", "make"),
    ("all:\n\t$(MAKE) -f other.mk test", "test:\n\tpytest\nship:\n\tgit push", "make"),
    (
        "CC ?= gcc\nall: a.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n%.o: %.c\n\t$(CC) -c $<",
        "",
        "make",
    ),
    ("all:\n\t$(CROSS)gcc x.c $(shell pkg-config --libs x)", "", "make"),
    ("PY := $(shell command -v python3)\nall:\n\t$(PY) -m pytest $(ARGS)", "", "make"),
    ("ifdef CI\nX = -q\nendif\nX += -x\nall:\n\tpytest $(X)", "", "make"),
    ("Q = @\nall:\n\t$(Q)echo 'git push'\n# git push", "", "make"),
    ("all:\n\tfor x in a b; do echo $$x; done", "", "make"),
    ("SHELL := /bin/bash\n.SHELLFLAGS := -eu -o pipefail -c\nall:\n\techo", "", "make"),
    ("help:\n\t@grep -E '^[a-z]+:.*?## ' $(MAKEFILE_LIST) | sort", "", "make help"),
    ("GOBIN = $(CURDIR)/bin\nlint:\n\t$(GOBIN)/golangci-lint run ./...", "", "make lint"),
]
JUSTFILES = [
    ("x := `HARM`\nall:\n  echo", "", "just all"),
    ("x := 'a' + shell('HARM')\nall:\n  echo", "", "just all"),
    ("x := shell(y)\nall:\n  echo", "", "just all"),
    ("x := if `HARM` == '' { 'a' } else { 'b' }\nall:\n  echo", "", "just"),
    ("all x=`HARM`:\n  echo", "", "just all"),
    ("all:\n  echo {{ `HARM` }}", "", "just all"),
    ("x := 'HARM'\nall:\n  {{x}}", "", "just"),
    ("all x='HARM':\n  {{x}}", "", "just all"),
    ("set shell := ['sh', '-c', 'HARM', '#']\nall:\n  echo", "", "just all"),
    ("set shell := ['python3', '-c']\nall:\n  import os", "", "just all"),
    ("import 'other.just'\nall: ship", "ship:\n  HARM", "just all"),
    ("import? 'other.just'\nall:\n  echo", "x := `HARM`", "just all"),
    ("mod other", "all:\n  HARM", "just other all"),
    ("mod other", "all:\n  HARM", "just other::all"),
    ("all:\n  echo\nalias s := ship\nship:\n  HARM", "", "just s"),
    ("all: ship\nship:\n  HARM", "", "just"),
    ("all: && ship\n  echo\nship:\n  HARM", "", "just"),
    ("all:\n  just ship\nship:\n  HARM", "", "just"),
    ("import 'missing.just'\nall:\n  echo", "", "just all"),
]
JUST_HARMLESS = [
    ("x := `git describe`\nall *ARGS:\n  pytest {{ARGS}} {{x}}", "", "just all -k x"),
    ("# `git push` is done by hand\nall:\n  echo", "", "just all"),
    ("set shell := ['bash', '-uc']\npy := 'python3'\nall:\n  {{py}} -m pytest", "", "just"),
    ("all:\n  echo\nship:\n  git push", "", "just"),
    ("import 'other.just'\nall: test", "test:\n  pytest\nship:\n  git push", "just all"),
]
TASKFILES = [
    ("vars: {X: {sh: HARM}}\ntasks: {all: echo}", "", "task all"),
    ("env: {X: {sh: HARM}}\ntasks: {all: echo}", "", "task --dry all"),
    ("tasks: {all: {vars: {X: {sh: HARM}}, cmd: echo}}", "", "task all"),
    ("tasks: {all: {preconditions: [HARM], cmd: echo}}", "", "task all"),
    ("tasks: {all: {preconditions: [{sh: HARM}], cmd: echo}}", "", "task all"),
    ("tasks: {all: {status: [HARM], cmd: echo}}", "", "task all"),
    ("vars: {X: HARM}\ntasks: {all: '{{.X}}'}", "", "task all"),
    ("tasks: {all: '{{.X}}'}", "", "task all X='HARM'"),
    ("tasks: {all: {cmds: [{task: a, vars: {X: HARM}}]}, a: '{{.X}}'}", "", "task all"),
    ("tasks: {all: {deps: [a]}, a: HARM}", "", "task all"),
    ("tasks: {all: {deps: [{task: a}]}, a: HARM}", "", "task all"),
    ("tasks: {all: {cmds: [{defer: {task: a}}]}, a: HARM}", "", "task all"),
    ("tasks: {all: {cmds: [{defer: HARM}]}}", "", "task all"),
    ("tasks: {ship: {aliases: [s], cmd: HARM}}", "", "task s"),
    ("tasks: {'ship:*': HARM}", "", "task ship:it"),
    (
        "includes: {o: other.yml}\ntasks: {all: {deps: ['o:all']}}",
        "tasks: {all: HARM}",
        "task all",
    ),
    ("includes: {o: {taskfile: other.yml}}", "tasks: {all: HARM}", "task o:all"),
    ("includes: {o: other.yml}\ntasks: {a: echo}", "vars: {X: {sh: HARM}}", "task a"),
    ("includes: {o: missing.yml}\ntasks: {a: echo}", "", "task a"),
]
TASK_HARMLESS = [
    ("vars: {X: {sh: git describe}}\ntasks: {all: 'echo {{.X}}'}", "", "task all"),
    (
        "vars: {PY: python3}\ntasks: {all: '{{.PY}} -m pytest {{.CLI_ARGS}}'}",
        "",
        "task all",
    ),
    (
        "includes: {o: {taskfile: missing.yml, optional: true}}\ntasks: {a: echo}",
        "",
        "task a",
    ),
    ("tasks: {all: {status: [test -f x], cmd: echo}, ship: git push}", "", "task all"),
]
OTHER = {"make": "other.mk", "just": "other.just", "task": "other.yml"}
FIRST = {"make": "Makefile", "just": "justfile", "task": "Taskfile.yml"}
PUSH = "git push --force"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "home").mkdir()
    repo = Repo.create(folder / "repo", isolated_environment(folder / "home"))
    repo.commit("Begin", {"x.c": "int x;\n"})
    guard(repo, "install")
    return repo


def decide(tree: Repo, text: str, other: str, command: str) -> Decision:
    """Return the verdict on a command in a tree with the two files."""
    program = command.split()[0]
    (tree.path / FIRST[program]).write_text(f"{text}\n".replace("HARM", PUSH))
    (tree.path / OTHER[program]).write_text(f"{other}\n".replace("HARM", PUSH))
    context = command_context(tree.path, tree.env, profile=Profile.WORKSPACE)
    return judge(command.replace("HARM", PUSH), context).verdict


def test_a_line_runs_what_another_has_fetched(tree: Repo) -> None:
    fetch = "all:\n\tcurl -fsSo /tmp/b.sh https://example.org/b\n\tsh /tmp/b.sh"
    assert decide(tree, fetch, "", "make") is Decision.REVIEW
    assert decide(tree, fetch.replace("\tsh /", "\tcat /"), "", "make") is Decision.ALLOW


@examples(("text", "other", "command"), [*MAKEFILES, *JUSTFILES, *TASKFILES])
def test_what_is_hidden_asks(text: str, other: str, command: str, tree: Repo) -> None:
    assert decide(tree, text, other, command) is Decision.REVIEW


@near_misses(("text", "other", "command"), [*HARMLESS, *JUST_HARMLESS, *TASK_HARMLESS])
def test_what_stays_in_the_tree_is_allowed(
    text: str, other: str, command: str, tree: Repo
) -> None:
    assert decide(tree, text, other, command) is Decision.ALLOW


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@examples(("text", "other", "command"), MAKEFILES)
def test_the_real_make_runs_it(
    text: str, other: str, command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("make")
    harm = f"{folder}/harm"
    Path(harm).write_text("#!/bin/sh\necho > ran\n")
    Path(harm).chmod(0o755)
    (folder / "Makefile").write_text(f"{text}\n".replace("HARM", harm))
    if other:
        (folder / "other.mk").write_text(f"{other}\n".replace("HARM", harm))
    shown = subprocess.run(
        ["sh", "-c", command.replace("HARM", harm)],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert (folder / "ran").exists(), shown.stderr
