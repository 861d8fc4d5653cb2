"""Ansible playbooks and task files, and cloud-init: commands that are run on machines."""

import re
from collections.abc import Iterator
from dataclasses import replace

from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.nodes import Document, Items, Node, Scalar, Table, at, tables
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, language_of_text, shell_of
from cli_guard.reviewers.commands.extract.values import lines, words

MODULE = re.compile(r"(?:ansible\.(?:builtin|legacy|windows)\.)?(?:win_)?(shell|command|raw|script)")
LOOKS_SO = re.compile(
    r"(?m)^[ \t]*(?:-[ \t]+)?['\"]?(?:ansible\.\w+\.)?(?:win_)?(?:shell|command|raw)['\"]?:"
    r"|^[ \t]*(?:-[ \t]+)?(?:local_)?action:[ \t]"
)
LOCAL_ACTION = re.compile(r"\s*(?:ansible\.(?:builtin|legacy)\.)?(?:shell|command|raw)\s+")
STATEMENT = re.compile(r"\{%.{1,500}?%\}", re.DOTALL)


def ansible(document: Document) -> Iterator[Snippet]:
    """What the tasks of a playbook run."""
    for table in tables(document.roots):
        for key, value in table.items():
            module = MODULE.fullmatch(key)
            if module:
                for found in _run(value, _program(table, value)):
                    yield _filled(replace(found, language="cmd") if "win" in key else found)
            elif key in ("local_action", "action") and isinstance(value, Scalar):
                named = LOCAL_ACTION.match(value.text)
                for found in lines(value, Where.SCRIPT) if named else ():
                    yield _filled(found.replaced([(0, named.end(), "")])) if named else found


def cloud_init(document: Document) -> Iterator[Snippet]:
    """What a new machine runs first; each command is a text or a list of words."""
    for name in ("runcmd", "bootcmd"):
        for command in at(document.roots, name, "[]"):
            yield from words(command, Where.SERVICE)


def _program(task: Table, value: Node) -> str:
    """The language of the program that the task names to run its text with, empty if it names none."""
    named = [table.text("executable") for table in (task.get("args"), value) if isinstance(table, Table)]
    return next((shell_of(name) for name in named if name), "")


def _run(value: Node, language: str) -> Iterator[Snippet]:
    if isinstance(value, Scalar):
        yield from lines(value, Where.SCRIPT, language or language_of_text(value.text))
    elif isinstance(value, Table):
        argv = value.get("argv")
        if isinstance(argv, Items):
            yield from words(argv, Where.SCRIPT)
        yield from lines(value.get("cmd") or value.get("_raw_params"), Where.SCRIPT, language or "sh")


def _filled(found: Snippet) -> Snippet:
    return found.substituted(STATEMENT, lambda text: " " * len(text)).substituted(BRACES)
