"""The tasks of a project that a command runs by name: what `npm run NAME` or `make NAME` stands for, as a script.

A task is named `FILE#NAME`. `programs.toml` says which programs run tasks, the files that hold them and the key of
their table there; recipes of makefiles and justfiles are found by their heads, with all that they need before. Of a
program whose tasks are code (rake, nox) the whole file is the script.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from cli_guard.commands import Context, programs
from cli_guard.commands.engine import walk
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.reviewers.agents.change_tree import ROOT, ChangeTree
from cli_guard.reviewers.agents.reading import text_of
from cli_guard.reviewers.commands.extract import Unreadable, read_document, snippets
from cli_guard.reviewers.commands.extract.make import JUST_HEAD, MAKE_HEAD, blocks_in
from cli_guard.reviewers.commands.extract.nodes import Items, Node, Scalar, Table
from cli_guard.rules.catalog import read_table

MARK = "#"
MOST_TASKS = 200
# How a script of Composer names another one.
REFERENCE = re.compile(r"@(?!(?:php|composer|putenv)\b)(\S+)")
# npm-package.json(5).
PACKAGES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
ALIASES = {"t": "test", "tst": "test"}


@cache
def runners() -> Mapping[str, Mapping[str, Any]]:
    """Return by program what is known of the tasks that it runs."""
    rows = read_table("agents/programs.toml")["task"]
    return {program: row for row in rows for program in row["programs"].split()}


def find_tasks(command: str, context: Context, tree: ChangeTree) -> Iterator[str]:
    """Yield the tasks that a command runs, also those that are not there."""
    if not any(program in command for program in runners()):
        return
    for invocation in walk(command, context).invocations:
        # `npm:NAME` is a word of those that run several scripts at once.
        program, colon, name = invocation.program.partition(":")
        row = runners().get(program)
        if row is None:
            continue
        files = [
            posixpath.join(folder_of(invocation, row), each)
            for each in row["files"].split()
        ]
        path = next((each for each in files if tree.text(each) is not None), files[0])
        if row.get("is_script"):
            yield path
            continue
        for each in [name] if colon else names_in(invocation, row):
            task = f"{path}{MARK}{each}"
            if not row.get("has_programs") or not is_program(task, tree):
                yield task


def folder_of(invocation: ProgramInvocation, row: Mapping[str, Any]) -> str:
    """Return the folder of a program's tasks from the top of the tree; one that is not known is a name for nothing."""
    place = invocation.folder or "?"
    for option, value in invocation.arguments.values:
        if not set(option.names).isdisjoint(row["folders"].split()):
            place = posixpath.join(place, value.text or "?")
    return posixpath.normpath(place).removeprefix(ROOT).lstrip("/")


def is_program(task: str, tree: ChangeTree) -> bool:
    """Return whether a name that is no task stands for a file of the tree or an installed program."""
    path, _, name = task.rpartition(MARK)
    text = tree.text(path)
    if text is not None and script_of(task, text) is not None:
        return False
    return tree.locks(name) or tree.is_recorded(
        posixpath.join(posixpath.dirname(path), name)
    )


def names_in(invocation: ProgramInvocation, row: Mapping[str, Any]) -> list[str]:
    """Return the names of the tasks that a program is asked for; "" stands for the first of its file."""
    arguments = invocation.arguments
    called = (arguments.sub_command.text if arguments.sub_command else "") or ""
    operands = [each.text or "?" for each in arguments.operands]
    if called and called in row.get("named", "").split():
        return [ALIASES.get(called, called)]
    if row.get("has_own_commands") and is_own_command(invocation.program, called):
        return [called]
    if called not in row["runs"].split() and not (row.get("is_bare") and not called):
        return []
    if not row.get("has_many"):
        return operands[:1]
    names = [each for each in operands if "=" not in each and not each.isdigit()]
    return names or [""]


def is_own_command(program: str, called: str) -> bool:
    """Return whether a sub-command is none of the program itself, but a task under its name: `composer lint`."""
    spec = programs.table(program)
    return called != "" and spec is not None and called not in spec.commands


def is_task(name: str) -> bool:
    return MARK in name


def is_of_package(task: str, program: str, tree: ChangeTree) -> bool:
    """Return whether a task of package.json finds a program as a package that its file, or that of the top, lists."""
    path = file_of(task)
    if not program or not is_task(task) or posixpath.basename(path) != "package.json":
        return False
    return any(
        posixpath.basename(name) == program
        for each in (path, "package.json")
        for name in packages_in(each, tree.text(each) or "")
    )


def packages_in(path: str, text: str) -> Iterator[str]:
    """Yield the packages that a package.json lists."""
    for root in read_document(path, text).roots:
        for key in PACKAGES:
            listed = root.get(key) if isinstance(root, Table) else None
            if isinstance(listed, Table):
                yield from dict(listed.items())


def file_of(name: str) -> str:
    """Return the file that holds a task, or a script itself."""
    return name.rpartition(MARK)[0] if MARK in name else name


def script_of(name: str, text: str) -> str | None:
    """Return a task of a file with this text as a script for the shell, None if the file has no such task."""
    path, _, task = name.rpartition(MARK)
    rows = (
        row
        for row in runners().values()
        if posixpath.basename(path) in row["files"].split()
    )
    row = next(rows, None)
    if row is None:
        return None
    table = row.get("table", "")
    commands = (
        commands_in_table(path, text, table, task)
        if table
        else recipes_in(path, text, task)
    )
    return None if commands is None else "\n".join(("#!/bin/sh", *commands, ""))


def commands_in_table(path: str, text: str, key: str, task: str) -> list[str] | None:
    """Return the commands of a task in a data file, with those around and before it, None if it is not there."""
    roots = read_document(path, text).roots
    table = roots[0].get(key) if roots and isinstance(roots[0], Table) else None
    if not isinstance(table, Table):
        return None
    every = dict(table.items())
    waiting = [each for each in every if fnmatchcase(each, task)] if "*" in task else [task]
    if not any(each in every for each in waiting):
        return None
    found: list[str] = []
    for number, name in enumerate(waiting):
        if number >= MOST_TASKS:
            break
        for each in (f"pre{name}", name, f"post{name}"):
            if each in every:
                found += lines_of(every[each], waiting)
    return found


def lines_of(node: Node | None, waiting: list[str]) -> Iterator[str]:
    """Yield the commands of a task; the names of others that it needs are added to `waiting`."""
    if isinstance(node, Scalar) and (other := REFERENCE.match(node.text)):
        waiting += [other[1]]
    elif isinstance(node, Scalar):
        # `@php` and `@composer` are these programs.
        yield node.text.removeprefix("@")
    elif isinstance(node, Items):
        for each in node.nodes:
            yield from lines_of(each, waiting)
    elif isinstance(node, Table):
        for key in ("cmd", "cmds", "run", "command"):
            yield from lines_of(node.get(key), waiting)
        for key in ("deps", "depends", "dependencies", "task"):
            others = node.get(key)
            named = others.nodes if isinstance(others, Items) else [others]
            names = (
                each.text("task") if isinstance(each, Table) else text_of(each)
                for each in named
            )
            waiting += [each for each in names if each and each not in waiting]


def recipes_in(path: str, text: str, task: str) -> list[str] | None:
    """Return the commands of a recipe and of all that it needs, with what runs whatever is asked for."""
    head = MAKE_HEAD if "make" in path.lower() else JUST_HEAD
    blocks = list(blocks_in(text, head))
    needs: dict[str, list[str]] = {}
    for names, others, _ in blocks:
        for name in names:
            needs.setdefault(name, []).extend(others)
    first = next((name for name in needs if name[0] not in ".%$"), "")
    wanted = {task or first: None}
    if not wanted.keys() <= needs.keys():
        return None
    waiting = list(wanted)
    for name in waiting:
        waiting += (each for each in needs.get(name, ()) if each not in wanted)
        wanted |= dict.fromkeys(needs.get(name, ()))
    kept = [block for names, _, block in blocks if not names or is_wanted(names, wanted)]
    commands: list[str] = []
    with suppress(Unreadable):
        commands += (f"(\n{each.text}\n)" for each in snippets(path, "".join(kept)))
    return commands


def is_wanted(names: Iterable[str], wanted: Iterable[str]) -> bool:
    """Return whether a recipe is for one of some names; a pattern, or a name that is computed, may be for any."""
    return any("%" in name or "$" in name or name in wanted for name in names)
