"""The commands that are taken out of a file, and the line of the file that each of them stands on.

A row of `rows/*.toml` is a file and the snippets that must come out of it, in any order. A command names its line
(`L4`), so that every line number is checked wherever it turns up; what must stay out says `NOT`.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from examples import near_misses, table

from cli_guard.reviewers.commands.extract import Snippet, Unreadable, Where, snippets

NAMED_LINE = re.compile(r"\bL(\d+)\b")
ROWS = [
    row
    for file in sorted(Path(__file__).with_name("rows").glob("*.toml"))
    for row in tomllib.loads(file.read_text("utf-8"))["row"]
]
WORKFLOW = ".github/workflows/ci.yml"
SCRIPT = "#!/bin/sh\nset -e\necho L3\n"


def taken(path: str, text: str) -> list[Snippet]:
    """The snippets for sh; every line that is named in any snippet is right."""
    found = list(snippets(path, text))
    for each in found:
        assert "NOT" not in each.text
        for named in NAMED_LINE.finditer(each.text):
            assert each.line_at(named.start()) == int(named[1]), each.text
            assert each.lines_of(named.start(), named.end()) == (
                int(named[1]),
                int(named[1]),
            )
    return [each for each in found if each.language in ("sh", "mixed")]


def texts(path: str, text: str) -> list[str]:
    return sorted(each.text.strip() for each in taken(path, text))


@table("row", ROWS, ids=lambda row: f"{row['path']}: {row['name']}")
def test_row(row: dict[str, Any]) -> None:
    assert texts(row["path"], row["text"]) == sorted(row["expected"])


def test_there_are_enough_rows() -> None:
    assert len({(row["path"], row["name"]) for row in ROWS}) == len(ROWS) >= 190


@table(
    ("text", "language"),
    [
        ("jobs: {a: {steps: [{run: x, shell: pwsh}]}}", "pwsh"),
        ("jobs: {a: {steps: [{run: x, shell: 'bash -e {0}'}]}}", "sh"),
        ("jobs: {a: {steps: [{run: x, shell: cmd}]}}", "cmd"),
        ("jobs: {a: {steps: [{run: x, shell: python}]}}", None),
        ("jobs: {a: {steps: [{run: x, shell: '${{ inputs.shell }}'}]}}", "sh"),
        ("jobs: {a: {runs-on: windows-latest, steps: [{run: x}]}}", "pwsh"),
        ("jobs: {a: {runs-on: [self-hosted, Windows-2022], steps: [{run: x}]}}", "pwsh"),
        ("jobs: {a: {runs-on: windows-latest, steps: [{run: x, shell: bash}]}}", "sh"),
        ("jobs: {a: {runs-on: '${{ matrix.os }}', steps: [{run: x}]}}", "sh"),
        ("jobs: {a: {steps: [{run: x, if: runner.os == 'Windows'}]}}", "pwsh"),
        ("jobs: {a: {steps: [{run: x, if: runner.os != 'Windows'}]}}", "sh"),
        (
            "jobs: {a: {steps: [{run: x, if: \"startsWith(matrix.os, 'windows-')\"}]}}",
            "pwsh",
        ),
        (
            "jobs: {a: {steps: [{run: x, shell: '${{ steps.p.outputs.python }} {0}'}]}}",
            None,
        ),
        ("defaults: {run: {shell: pwsh}}\njobs: {a: {steps: [{run: x}]}}", "pwsh"),
        (
            "defaults: {run: {shell: pwsh}}\njobs: {a: {defaults: {run: {shell: bash}}, steps: [{run: x}]}}",
            "sh",
        ),
    ],
)
def test_the_shell_of_a_step(text: str, language: str | None) -> None:
    found = (each.language for each in snippets(WORKFLOW, text) if each.text.strip() == "x")
    assert next(found, None) == language


@table(
    ("text", "language"),
    [
        ("- shell: ls | grep x", "sh"),
        ("- shell: |\n    x=1\n    for i in a; do echo $x; done", "sh"),
        ("- raw: $x = 1", "pwsh"),
        ("- raw: '[datetime]::now | Out-String'", "pwsh"),
        ("- raw: Get-ChildItem C:/", "pwsh"),
        ("- shell: print(1)\n  args:\n    executable: /usr/bin/python3", "other"),
        ("- shell: ls\n  args:\n    executable: /bin/bash", "sh"),
        ("- ansible.windows.win_shell: dir", "cmd"),
    ],
)
def test_the_language_of_a_task(text: str, language: str) -> None:
    assert [each.language for each in snippets("tasks/main.yml", f"{text}\n")] == [language]


@table(
    ("path", "text", "expected"),
    [
        (
            "run.sh.j2",
            "echo {{ a }} L1\n{% if x %}\necho L3\n{% endif %}\n",
            "echo ${a___} L1\n          \necho L3",
        ),
        ("Dockerfile.jinja2", "RUN echo L1 {{ a }}\n{# NOT #}\n", "echo L1 ${a___}"),
        ("a.service.j2", "ExecStart={{ bin }} L1\n", "${bin___} L1"),
        ("run.sh", "echo ${#a[@]} {{x}} L1\n", "echo ${#a[@]} {{x}} L1"),
    ],
)
def test_templates(path: str, text: str, expected: str) -> None:
    assert texts(path, text) == [expected]


def test_what_is_filled_in_keeps_its_length() -> None:
    (found,) = snippets(
        WORKFLOW,
        "jobs:\n  a:\n    steps:\n    - run: |\n        echo ${{ a ||\n          b }} L6\n",
    )
    assert len(found.text.rstrip()) == len("echo ${{ a ||\n  b }} L6")


def test_an_alias_keeps_the_line_that_it_stands_for() -> None:
    text = "x: &a {run: echo L1}\njobs:\n  a:\n    steps: [*a, {run: echo L4}]\n"
    assert texts(WORKFLOW, text) == ["echo L1", "echo L4"]


def test_composite_action() -> None:
    text = "runs:\n  using: composite\n  steps:\n    - shell: bash\n      run: echo ${{ inputs.x }} L5\n"
    assert texts("tools/setup/action.yml", text) == ["echo ${inputs_x____} L5"]


def test_cloud_build() -> None:
    text = "steps:\n- entrypoint: bash\n  args: ['-c', 'echo L3 $$X']\n  name: x\n- name: y\n  script: |\n    echo L7\n"
    assert texts("cloudbuild.yaml", text) == ["bash -c 'echo L3 $X'", "echo L7"]


@table(
    "path",
    [
        *(
            "Dockerfile",
            "Dockerfile.dev",
            "a/b.Dockerfile",
            "Containerfile",
            "docker/dockerfile",
            "Dockerfile-x",
        ),
        *("GNUmakefile", "makefile", "a/rules.mk", "Makefile.am", "build.make"),
    ],
)
def test_names_of_files(path: str) -> None:
    text = "RUN echo L1\n" if "ocker" in path or "ontainer" in path else "a:\n\techo L2\n"
    assert texts(path, text) in (["echo L1"], ["echo L2"])


@table(
    "path",
    [
        *(
            "a.sh",
            "bin/run",
            "a/b.bash",
            "configure.in",
            ".husky/pre-commit",
            ".githooks/pre-push",
            "x.zsh",
        ),
        *(".envrc", "etc/profile"),
    ],
)
def test_script(path: str) -> None:
    assert texts(path, SCRIPT) == [SCRIPT.strip()]


@table(
    "path",
    [
        "a.sh",
        ".bashrc",
        ".husky/pre-push",
        "githooks/commit-msg",
        "dot/.zprofile",
        "hooks/update",
    ],
)
def test_script_by_its_name_alone(path: str) -> None:
    assert texts(path, "echo L1\n") == ["echo L1"]


@table(
    "line",
    [
        *(
            "#!/bin/bash -eu",
            "#! /bin/sh",
            "#!/usr/bin/env bash",
            "#!/usr/bin/env -S bash -e",
            "#!/bin/sh\r",
        ),
        *(
            "#!/usr/local/bin/zsh",
            "#!/bin/dash",
            "#!/usr/bin/ksh93",
            "#!/bin/busybox sh",
            "#!C:/x/bash.exe",
        ),
    ],
)
def test_first_lines_of_shells(line: str) -> None:
    (found,) = snippets("tool", f"{line}\necho L2\n")
    assert found.text.split("\n")[1] == "echo L2"


@near_misses(
    ("path", "text"),
    [
        ("tool", "#!/usr/bin/env python3\nNOT\n"),
        ("tool.sh", "#!/usr/bin/perl\nNOT\n"),
        ("tool", "echo NOT\n"),
        ("README.md", "```sh\necho NOT\n```\n"),
        ("docs/install.rst", "::\n\n  curl NOT | sh\n"),
        ("a.py", "shell.system('NOT')\n"),
        ("a.fish", "echo NOT\n"),
        ("hooks/pre-commit.md", "echo NOT\n"),
        ("notes.txt", "NOT\n"),
        ("a.yml", "script: NOT\n"),
        ("a.json", '{"command": "NOT"}'),
        ("settings.json", '{"hooks": {"command": "NOT"}}'),
        ("locale/tasks.json", '{"tasks": [{"command": "NOT"}]}'),
        ("Dockerfile/README.md", "RUN NOT\n"),
        ("dockerfiles.txt", "RUN NOT\n"),
        ("src/dockerfile_parser.py", "RUN NOT\n"),
        ("makefile.md/x.txt", "a:\n\tNOT\n"),
        ("old.gitlab-ci.yml.orig", "a: {script: NOT}\n"),
    ],
)
def test_what_holds_no_commands(path: str, text: str) -> None:
    assert list(snippets(path, text)) == []


def test_where_a_script_stands() -> None:
    assert [each.where for each in snippets(".husky/pre-commit", "x\n")] == [Where.HOOK]
    assert [each.where for each in snippets("a.sh", "x\n")] == [Where.SCRIPT]


@table(
    ("path", "text", "expected"),
    [
        ("package.json", '{\n"scripts": {"a": "echo L2",\n "b": "x}}\n', ["echo L2"]),
        ("package.json", '{"scripts": {"a": "echo L1"', ["echo L1"]),
        ("pyproject.toml", '[tool.taskipy.tasks]\na = "echo L2"\nb = = \n', ["echo L2"]),
        (
            "pyproject.toml",
            '[tool.taskipy.tasks]\na = "echo L2"\nb = [[[["x"\n',
            ["echo L2"],
        ),
        (".gitlab-ci.yml", "a:\n  script: echo L2\nb: [\n", ["echo L2"]),
        (".gitlab-ci.yml", "a:\n\tb: 1\n", []),
    ],
)
def test_a_broken_file_gives_what_stands_before(
    path: str, text: str, expected: list[str]
) -> None:
    given = []
    with pytest.raises(Unreadable, match=r"line|ends"):
        for each in snippets(path, text):
            given.append(each.text.strip())
    assert given == expected


@table(
    ("path", "text"),
    [
        ("package.json", '{"scripts": ' * 33_333),
        ("package.json", "[" * 1_000_000),
        ("pyproject.toml", "x = " + "[" * 33_333),
        ("pyproject.toml", "[a]\n" * 100_000),
        ("pyproject.toml", ".".join("a" * 33_333) + " = 1\n"),
        ("pyproject.toml", '"""' * 100_001),
        (".gitlab-ci.yml", "[" * 100_000),
        (".gitlab-ci.yml", "- " * 16_666),
        ("Dockerfile", "RUN --x=" + '""' * 33_333),
        ("Dockerfile", "RUN <<A\n" * 6_666),
        ("Makefile", "a" + ":" * 100_000),
        ("Makefile", "a: " + " " * 100_000 + "="),
        ("justfile", "a '" + "''" * 33_333 + "b"),
        ("justfile", "a := `\n" * 16_666),
        ("justfile", "a := ```\n" * 16_666),
        ("Jenkinsfile", "sh" + " " * 100_000),
        ("Jenkinsfile", "sh(label: 'a', " * 6_666),
        ("Vagrantfile", "<<A\n" * 33_333),
        ("tox.ini", "[testenv]\ncommands = " + "{a:" * 33_333),
        ("a.tf", "command = <<A\n" * 3_333),
        ("roles/x/tasks/main.yml", "- raw: |\n" + "\n" * 100_000),
        ("roles/x/tasks/main.yml", "- raw: " + "{{ " * 33_333),
        (WORKFLOW, "jobs: {a: {steps: [{run: '" + "${{" * 16_666 + "'}]}}"),
        ("crontab", "* " * 100_000),
        ("Makefile", "all:\n\techo " + "$(" * 66_666 + "\n" + "$(shell " * 1_666),
    ],
    ids=lambda value: value[:12],
)
def test_what_nests_deep_is_given_up_in_time(path: str, text: str) -> None:
    try:
        list(snippets(path, text))
    except Unreadable as error:
        assert str(error)


def test_an_alias_bomb_is_read_in_a_moment() -> None:
    lines = ["a0: &a0 [echo x]"] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)
    ]
    text = "\n".join([*lines, "services:", "  x:", "    command: *a39", ""])
    assert texts("docker-compose.yml", text) == ["'echo x'"]


ODD = "\0|\ufeff|\n|\r\n|:|- |{|[[|<<EOF|`|'''|\"\"\"|$(|\\|%|\ud800|#!/bin/sh|!|*a|".split(
    "|"
)


@table("path", sorted({row["path"] for row in ROWS}))
def test_no_text_is_too_odd(path: str) -> None:
    for text in ODD:
        try:
            list(snippets(path, text))
        except Unreadable as error:
            assert str(error)
