"""A Taskfile (taskfile.dev, "Schema reference"): its tasks, and those of the files that it includes."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from cli_guard.execution.tasks.reader import TaskReader
from cli_guard.lazy import regex
from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.nodes import (
    Node,
    Scalar,
    Table,
    at,
    named_at,
    scalars,
    tables,
)
from cli_guard.reviewers.commands.extract.snippet import variable
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml

# Where a task has its commands, those that decide whether it has to run, and calls of other tasks.
RUN = ((), ("cmd",), ("cmds",), ("cmds", "[]", "cmd"), ("cmds", "[]", "defer"))
CHECKS = (("status",), ("preconditions",), ("if",), ("cmds", "[]", "if"))
CALLS = (("deps", "[]"), ("cmds", "[]"), ("cmds", "[]", "defer"))
VALUE = regex(r"\{\{-?\s*\.(\w+)\s*-?\}\}")
NAMES = [
    f"{name}.{ending}"
    for name in ("Taskfile", "taskfile", "Taskfile.dist", "taskfile.dist")
    for ending in ("yml", "yaml")
]


class Taskfile(TaskReader):
    """The tasks of a Taskfile; `default` runs if none is named."""

    def read(self, path: Path, text: str, start: str) -> None:
        document = read_yaml("Taskfile.yml", text)
        self.unread += [document.problem] if document.problem else []
        roots = document.roots
        values = dict(self.list_values(roots, "vars"))
        for name, _ in (*named_at(roots, "tasks", "*", "vars", "*"), *self.given.items()):
            # Another value within a task.
            values.pop(name, None)
        values |= self.given

        def fill(text: str) -> str:
            known = VALUE.sub(lambda each: values.get(each[1], each[0]), text)
            return BRACES.sub(lambda each: variable(each[0]), known)

        def list_at(node: Node, *places: tuple[str, ...]) -> list[str]:
            nodes = (each for place in places for each in at([node], *place))
            return [fill(each.text) for node in nodes for each in scalars(node)]

        for table in tables(roots):
            self.always += list_at(table, ("sh",))
        for name, task in named_at(roots, "tasks", "*"):
            run = list_at(task, *CHECKS) + ([] if self.dry else list_at(task, *RUN))
            for place in list_at(task, ("dir",)):
                run = [
                    f"cd {shlex.quote(str(path.parent / place))}\n{each}" for each in run
                ]
            called = [f"{self.call} {start}{each}" for each in list_at(task, ("deps",))]
            for way in CALLS:
                for node in at([task], *way):
                    if isinstance(node, Table) and (other := fill(node.text("task"))):
                        given = dict(self.list_values([node], "vars"))
                        words = (f"{key}={fill(value)}" for key, value in given.items())
                        called.append(f"{self.call} {shlex.join((start + other, *words))}")
            for each in (name, *list_at(task, ("aliases",))):
                self.tasks[f"{start}{each}"] = [*called, *run]
        if not start and "default" in self.tasks:
            self.tasks = {"": self.tasks["default"], **self.tasks}
        for name, node in named_at(roots, "includes", "*"):
            details = node if isinstance(node, Table) else Table()
            place = details.text("taskfile") or "".join(each.text for each in scalars(node))
            found = self.include(path.parent / fill(place), NAMES, f"{start}{name}:")
            if not found and details.text("optional") != "true":
                self.unread.append(f"includes {place}")

    def list_values(self, nodes: Iterable[Node], key: str) -> Iterator[tuple[str, str]]:
        for name, value in named_at(nodes, key, "*"):
            if isinstance(value, Scalar):
                yield name, value.text
