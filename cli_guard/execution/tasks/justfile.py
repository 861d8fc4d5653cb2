"""A justfile ("The Just Programmer's Manual"): its recipes, those of its modules, and what computes values."""

import re
import shlex
from bisect import bisect_left
from pathlib import Path

from cli_guard.execution.tasks.reader import TaskReader
from cli_guard.lazy import regex
from cli_guard.reviewers.commands.extract import snippets
from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.make import JUST_HEAD, blocks_in

TEXT = r"""(?:'([^'\n]*)'|"([^"\\\n]*)")"""
ASSIGNED = regex(rf"(?m)^(?:export\s+)?([\w-]+)\s*:=\s*{TEXT}[ \t]*$")
VALUE = regex(r"\{\{\s*([\w-]+)\s*\}\}")
# What just runs itself, in any expression.
RUN = regex(rf"```(.*?)```|`([^`]*)`|\bshell\s*\(\s*{TEXT}?", re.DOTALL)
COMMENT = regex(r"(?m)^\s*#.*$")
SHELL = regex(r"(?m)^set\s+(?:shell|script-interpreter)\s*:=\s*(.*)")
PLAIN_SHELL = regex(
    r"""\[\s*['"](?:\S*/)?(?:ba|z|da)?sh['"]\s*(?:,\s*['"](?:-\w+|pipefail)['"]\s*)*,?\s*\]"""
)
FILE = regex(rf"(?m)^(import|mod)(\??)(?:\s+([\w-]+))?(?:\s+{TEXT})?[ \t]*(?:#.*)?$")
NAME = regex(r"[\w:-]+")
ALIAS = regex(r"(?m)^alias\s+([\w-]+)\s*:=\s*([\w:-]+)")
NAMES = ("mod.just", "justfile", "Justfile", ".justfile")


class Justfile(TaskReader):
    """The recipes of a justfile; the first runs if none is named."""

    def read(self, path: Path, text: str, start: str) -> None:
        blocks = list(blocks_in(text, JUST_HEAD))
        # The expressions of a recipe are in its head and in braces.
        computed = [
            "\n".join((block.split("\n", 1)[0], *BRACES.findall(block))) if names else block
            for names, _, block in blocks
        ]
        settings = COMMENT.sub("", "\n".join(computed))
        for found in RUN.finditer(settings):
            run = [each for each in found.groups() if each is not None]
            self.always += run
            self.unread += [] if run else ["calls shell() with a command that is computed"]
        self.unread += [
            "runs its recipes in another program than a shell"
            for found in SHELL.finditer(settings)
            if not PLAIN_SHELL.match(found[1])
        ]
        values = {
            name: one or other for name, one, other in ASSIGNED.findall(settings)
        } | dict(self.given)
        for names, _, block in blocks:
            # A parameter of the same name has another value.
            for word in re.findall(r"[\w-]+", block.partition(":")[0]) if names else ():
                values.pop(word, None)
        filled = VALUE.sub(lambda each: values.get(each[1], each[0]), text)
        self.read_recipes(filled, path, start)
        for name, other in ALIAS.findall(settings):
            self.tasks[f"{start}{name}"] = [f"{self.call} {start}{other}"]
        for kind, optional, name, one, other in FILE.findall(settings):
            place = one or other or name
            inner = f"{start}{name}::" if kind == "mod" else start
            folder = path.parent
            beside = folder / f"{place}.just"
            if not (
                self.include(folder / place, NAMES, inner)
                or self.include(beside, (), inner)
                or optional
            ):
                self.unread.append(f"includes {place}")

    def read_recipes(self, text: str, path: Path, start: str) -> None:
        """Read the recipes of a text; those of a module run in its folder."""
        ends: list[int] = []
        blocks = list(blocks_in(text, JUST_HEAD))
        for names, _, block in blocks:
            ends.append((ends[-1] if ends else 0) + block.count("\n"))
            for name in names:
                self.tasks.setdefault(f"{start}{name}", [])
        into = f"cd {shlex.quote(str(path.parent))}\n" if start else ""
        for names, needs, _ in blocks:
            for name in names:
                self.tasks[f"{start}{name}"] += [
                    f"{self.call} {start}{need}" for need in needs if NAME.fullmatch(need)
                ]
        for snippet in snippets("justfile", text):
            names = blocks[min(bisect_left(ends, snippet.lines[0]), len(blocks) - 1)][0]
            for name in names if not self.dry else ():
                self.tasks[f"{start}{name}"].append(f"{into}{snippet.text}")
        first = next((name for name in self.tasks if name.startswith(start)), None)
        if first is not None:
            # `just`, `just module`
            self.tasks.setdefault(start.removesuffix("::"), self.tasks[first])
