"""justfiles and Taskfiles ("The Just Programmer's Manual"; taskfile.dev, "Schema reference"), in the terms of make."""

import re
import shlex

from cli_guard.execution.tasks.make_text import join_lines
from cli_guard.execution.tasks.reader import UNKNOWN, TaskReader, TaskRule
from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.make import JUST_HEAD, blocks_in
from cli_guard.reviewers.commands.extract.nodes import (
    Node,
    Scalar,
    Table,
    at,
    named_at,
    scalars,
    tables,
)
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml

REFERENCE = re.compile(r"\{\{-?\s*\.?([\w-]+)\s*-?\}\}")
TEXT = r"""(?:'([^'\n]*)'|"([^"\\\n]*)")"""
ASSIGNED = re.compile(rf"(?m)^(?:export\s+)?([\w-]+)\s*:=\s*{TEXT}[ \t]*$")
# What just runs itself, in any expression.
COMPUTED = re.compile(rf"```(.*?)```|`([^`]*)`|\bshell\s*\(\s*{TEXT}?", re.DOTALL)
COMMENT = re.compile(r"(?m)^\s*#.*$")
SHELL = re.compile(r"(?m)^set\s+(?:shell|script-interpreter)\s*:=\s*\[(.*)\]")
FILE = re.compile(rf"(?m)^(?:import|mod)(\??)(?:\s+([\w-]+))?(?:\s+{TEXT})?[ \t]*(?:#.*)?$")
ALIAS = re.compile(r"(?m)^alias\s+([\w-]+)\s*:=\s*([\w:-]+)")
# Where a task of a Taskfile has its commands, and those that decide whether it runs, also where it only shows commands.
COMMANDS = ("cmd", "cmds", "defer")
CHECKS = ("status", "preconditions", "if")


class OtherReader(TaskReader):
    """A reader of texts in which `{{...}}` is computed."""

    def translate(self, text: str) -> str:
        """Return a text as make would have it: what is computed and no variable of the file is not known."""
        pieces = re.split(rf"({BRACES.pattern})", text.replace("$", "$$"), flags=re.DOTALL)
        for index, each in enumerate(pieces):
            found = REFERENCE.fullmatch(each)
            if index % 2:
                is_set = found and found[1] in self.variables
                pieces[index] = f"$({found[1]})" if found and is_set else f"${UNKNOWN}"
        return "".join(pieces)


class JustfileReader(OtherReader):
    """The recipes of a justfile, those of its modules with and without their names."""

    def read(self, text: str) -> None:
        blocks = list(blocks_in(COMMENT.sub("", text), JUST_HEAD))
        # The expressions of a recipe are in its head and in braces.
        outside = "\n".join(
            "\n".join((block.split("\n")[0], *BRACES.findall(block))) if names else block
            for names, _, block in blocks
        )
        for found in COMPUTED.finditer(outside):
            run = [each for each in found.groups() if each is not None]
            self.run += run or [UNKNOWN]
        for found in SHELL.finditer(outside):
            self.set_values("SHELL", [re.sub("[\"',]+", " ", found[1])])
        for name, one, other in ASSIGNED.findall(outside):
            self.set_values(name, [(one or other).replace("$", "$$")])
        for names, _, block in blocks:
            # A parameter of the same name has another value.
            for word in re.findall(r"[\w-]+", block.partition(":")[0]) if names else ():
                if word not in self.given:
                    self.variables.pop(word, None)
        for names, needs, block in blocks:
            script = block.partition("\n")[2]
            lines = [script] if script.lstrip().startswith("#!") else join_lines(script)
            self.add(TaskRule(names, needs, [self.translate(each) for each in lines]))
        for name, other in ALIAS.findall(outside):
            self.add(TaskRule([name], [other], []))
        for optional, name, one, other in FILE.findall(outside):
            place = one or other or name
            inside = (f"{place}/{each}" for each in ("mod.just", "justfile", ".justfile"))
            if not (self.include(place, f"{place}.just", *inside) or optional):
                self.unread.append(f"that {place} defines")


class TaskfileReader(OtherReader):
    """The tasks of a Taskfile, and those of the files that it includes with their names in front."""

    start = ""

    def list_goals(self) -> list[str]:
        return [each for each in self.targets if each == "default"]

    def read(self, text: str) -> None:
        document = read_yaml("Taskfile.yml", text)
        roots = document.roots
        start = self.start
        self.unread += [f"after {document.problem}"] if document.problem else []
        for name, text in list_values(*at(roots, "vars")):
            self.set_values(name, [self.translate(text)])
        for name, _ in named_at(roots, "tasks", "*", "vars", "*"):
            if name not in self.given:
                self.variables.pop(name, None)

        for table in tables(roots):
            for value in list_texts(table, "sh"):
                self.run += self.expand(self.translate(value))
        for name, task in named_at(roots, "tasks", "*"):
            recipe = [each.text for each in scalars(task)]
            needs: list[str] = []
            for table in tables([task]):
                recipe += list_texts(table, *COMMANDS)
                recipe += [f"+{each}" for each in list_texts(table, *CHECKS)]
                needs += list_texts(table, "deps")
                if called := table.text("task"):
                    words = [
                        f"{key}={text}" for key, text in list_values(*at([table], "vars"))
                    ]
                    recipe.append(
                        f"+{self.write_call(shlex.join((start + called, *words)))}"
                    )
            for folder in list_texts(task, "dir"):
                # The plus stays in front.
                into = f"cd {shlex.quote(folder)}\n"
                recipe = [re.sub(r"\A\+?", rf"\g<0>{into}", each) for each in recipe]
            known = (name, *list_texts(task, "aliases"))
            rule = TaskRule(
                [f"{start}{each}" for each in known],
                [f"{start}{each}" for each in needs],
                [self.translate(each) for each in recipe],
            )
            self.add(rule)
        for name, node in named_at(roots, "includes", "*"):
            details = node if isinstance(node, Table) else Table()
            place = details.text("taskfile") or "".join(each.text for each in scalars(node))
            inside = (
                f"{place}/{each}.{end}"
                for each in ("Taskfile", "taskfile")
                for end in ("yml", "yaml")
            )
            self.start = f"{start}{name}:"
            if not self.include(place, *inside) and details.text("optional") != "true":
                self.unread.append(f"that {place} defines")
            self.start = start


def list_values(*nodes: Node) -> list[tuple[str, str]]:
    found = named_at(nodes, "*")
    return [(name, value.text) for name, value in found if isinstance(value, Scalar)]


def list_texts(node: Node, *keys: str) -> list[str]:
    nodes = (each for key in keys for each in at([node], key))
    return [each.text for node in nodes for each in scalars(node)]
