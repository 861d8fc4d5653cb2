"""The tasks of a file and the values of its variables, in the terms of GNU make, which all readers of tasks use.

Both branches of a condition are read, so that a variable may have several values. What a program prints, and what is
only known as the tasks run, is a variable of the shell that has no value.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from glob import iglob
from itertools import islice, product
from pathlib import Path

from cli_guard.commands.model import TaskFile
from cli_guard.execution.tasks.make_text import (
    FUNCTIONS,
    find_end,
    split_arguments,
    substitute,
)
from cli_guard.lazy import frozen
from cli_guard.runtime import read_plain

UNKNOWN = "${_make_}"
BUILT_IN = {
    "CC": "cc",
    "CXX": "c++",
    "AR": "ar",
    "RM": "rm -f",
    "CURDIR": ".",
    "SHELL": "sh",
}
# The targets that are asked for.
BUILT_IN["MAKECMDGOALS"] = "*"
REFERENCE = re.compile(r"\$(?:([({])|(.)|\Z)", re.DOTALL)
AUTOMATIC = re.compile(r"[@<^?+*%|][DF]?")
CALLS_MAKE = re.compile(r"\$[({]MAKE[)}]")
LINE_END = re.compile(r"(?<!\\)\n")
UNSET = re.compile(r"\$\{(?!_make_)\w+\}")
UNSURE = re.compile(r"%|\$\{\w+\}")
# What prints the path of a program.
LOOKUP = re.compile(r"\s*(?:which|command -v)\s+([\w.+-]+)\s*(?:2>\s*/dev/null)?\s*")
# A program that reads commands, and options for it.
SHELL = re.compile(
    r"(?:\S*/)?(?:env\s+)?(?:ba|da|z|k)?sh(?:\s+(?:-o\s+\w+|--?[a-zA-Z]+))*\s*|"
)
# Texts that one text may stand for; levels of references in references.
MOST_TEXTS = 4
MOST_VALUES = 24
MOST_LEVELS = 30
MOST_FILES = 200
# Bytes.
MOST_MANIFEST = 1_000_000


@frozen
class TaskRule:
    """How some tasks are done: what is done before, and the commands."""

    targets: Sequence[str]
    needs: Sequence[str]
    recipe: list[str]


class TaskReader(Mapping[str, tuple[str, ...]]):
    """The commands of each task, filled in when they are asked for.

    `call` runs another task of the same file, `given` are variables that the command line sets. `dry`: commands are
    only shown, but for those with a plus and those that call make. `run` is what runs to compute values.
    """

    # The texts of a recipe are whole scripts, not lines.
    whole = True

    def __init__(
        self, path: Path, call: str, given: Mapping[str, str], *, dry: bool
    ) -> None:
        self.folder = path.parent
        self.call = f"{call} {shlex.quote(str(path))}"
        self.given = given
        self.settings = [shlex.quote(f"{name}={text}") for name, text in given.items()]
        self.dry = dry
        self.variables = {name: [text] for name, text in given.items()}
        # The rules of each target, in the order of the file.
        self.targets: dict[str, list[TaskRule]] = {}
        self.included: list[str] = [path.name]
        self.run: list[str] = []
        self.unread: list[str] = []
        self.depth = 0

    def read(self, text: str) -> None:
        """Read the text of a file."""
        raise NotImplementedError

    def finish(self) -> TaskFile:
        return TaskFile(str(self.folder), self, tuple(self.run), tuple(self.unread))

    def open_file(self, name: str) -> str | None:
        """Return the text of a file, by its path from the folder; None if it cannot be read."""
        try:
            raw = read_plain(self.folder / name, follow=True, most=MOST_MANIFEST + 1)
        except (OSError, ValueError):
            return None
        if len(raw) > MOST_MANIFEST:
            self.unread.append(f"{name}, which is too long")
        return raw[:MOST_MANIFEST].decode("utf-8", "replace")

    def find_files(self, pattern: str) -> list[str]:
        # A pattern may be absolute, which `Path.glob` refuses.
        found = iglob(pattern, root_dir=self.folder)  # noqa: PTH207
        return [*islice(found, MOST_FILES)]

    def include(self, *names: str) -> bool:
        """Read the first of some files that is there; return whether there is one."""
        for name in names:
            if name in self.included:
                return True
            text = self.open_file(name)
            if text is not None:
                self.included.append(name)
                self.read(text)
                return True
        return False

    def add(self, rule: TaskRule) -> None:
        for target in rule.targets:
            self.targets.setdefault(target, []).append(rule)

    def __iter__(self) -> Iterator[str]:
        return iter(("", *self.targets))

    def __len__(self) -> int:
        return 1 + len(self.targets)

    def __getitem__(self, target: str) -> tuple[str, ...]:
        """Return the commands for a target; what it needs is done by another call."""
        if not target:
            return tuple(self.write_call(goal) for goal in self.list_goals()[:1])
        commands: list[str] = []
        known = len(self.unread)
        for rule in self.targets[target]:
            needs = [UNSURE.sub("*", need) for need in rule.needs]
            needs = [shlex.quote(need) for need in needs if self.is_made(need)]
            commands += [self.write_call(*needs)] if needs else []
            commands += self.list_recipe(rule, target)
        commands += [UNKNOWN] if len(self.unread) > known else []
        return tuple(dict.fromkeys(commands))

    def list_goals(self) -> list[str]:
        """Return the names of which the first is done if none is named."""
        return [each for each in self.targets if each[:1] != "."]

    def write_call(self, *words: str, call: str = "") -> str:
        """Return a call for other tasks, with the variables that the command line sets."""
        options = ["-n"] if self.dry else []
        return " ".join((call or self.call, *options, *self.settings, *words))

    def is_made(self, need: str) -> bool:
        """Return whether a rule makes what has a name, or one of those that a pattern finds; `%` is any text."""
        return need in self.targets or any(
            fnmatchcase(each, need) or fnmatchcase(need, UNSURE.sub("*", each))
            for each in self.targets
            if "%" in each or "*" in each + need
        )

    def list_recipe(self, rule: TaskRule, target: str) -> Iterator[str]:
        """Yield the commands for one target."""
        automatic: dict[str, str] = {}
        if "%" not in target:
            needs = " ".join(rule.needs)
            automatic = {"@": target, "<": needs.partition(" ")[0], "^": needs}
        in_one = ".ONESHELL" in self.targets
        outer = self.run
        for line in ["\n".join(rule.recipe)] if in_one else rule.recipe:
            self.run = []
            for text in self.expand(line, automatic):
                whole = self.whole or in_one
                for command in [text] if whole else LINE_END.split(text):
                    start = len(command) - len(command.lstrip(" \t@+-"))
                    insists = "+" in command[:start] or CALLS_MAKE.search(line)
                    if command[start:].strip() and (insists or not self.dry):
                        yield command[start:]
            yield from self.run
        self.run = outer

    def set_values(self, name: str, texts: Sequence[str]) -> None:
        """Set a variable to what it may be, unless the command line sets it."""
        if name in self.given:
            return
        self.variables[name] = list(dict.fromkeys(texts))
        if len(self.variables[name]) > MOST_VALUES:
            self.variables[name] = self.shorten(self.variables[name])
        if name == "MAKEFILES" or (name == "MAKEFLAGS" and "eval" in "".join(texts)):
            self.unread.append(f"that {name} adds")
        if name in ("SHELL", ".SHELLFLAGS"):
            start = "sh " if name != "SHELL" else ""
            given = [
                f"{start}{each}".strip() for text in texts for each in self.expand(text)
            ]
            if not all(map(SHELL.fullmatch, given)):
                self.unread.append("that runs in another program than a plain shell")

    def expand(self, text: str, given: Mapping[str, str] = {}) -> list[str]:
        """Return the texts that a text may become; `given` are the automatic variables and arguments."""
        pieces: list[list[str]] = []
        position = 0
        while found := REFERENCE.search(text, position):
            start = found.start()
            end = find_end(text, found.end()) if found[1] else found.end()
            inner = text[found.end() : end - 1] if found[1] else found[2] or ""
            self.depth += 1
            pieces += ([text[position:start]], self.find_values(inner, given))
            self.depth -= 1
            # A variable without a value is empty, or comes from the environment: a path, but hardly a program.
            near = text[start - 1 : start] + text[end : end + 1]
            if "/" not in near and text.strip(" \t@+-") != text[start:end]:
                pieces[-1] = ["" if UNSET.fullmatch(each) else each for each in pieces[-1]]
            position = end
        pieces.append([text[position:]])
        count = 1
        for each in pieces:
            if count * len(each) > MOST_TEXTS:
                each[:] = self.shorten(each)
            count *= len(each)
        return ["".join(each) for each in product(*pieces)]

    def expand_all(self, texts: Sequence[str], given: Mapping[str, str]) -> list[str]:
        return list(
            dict.fromkeys(each for text in texts for each in self.expand(text, given))
        )

    def shorten(self, texts: list[str]) -> list[str]:
        """Return one text for several, which is unknown, if they are words and no commands."""
        if any(re.search(r"[;&|<>`\n(]", each) for each in texts):
            self.unread.append("that has variables with many values")
        return [UNKNOWN]

    def find_values(self, inner: str, given: Mapping[str, str]) -> list[str]:
        """Return what a reference may become: `X`, `X:.c=.o`, `function arguments`."""
        if inner in given or inner == "$":
            return [given.get(inner, "$")]
        if self.depth > MOST_LEVELS or AUTOMATIC.fullmatch(inner):
            return [UNKNOWN]
        name, _, rest = inner.replace("\t", " ").partition(" ")
        if rest.strip():
            return self.apply(name, rest.lstrip(), given)
        found: list[str] = []
        for each in self.expand(inner, given):
            base, _, change = each.partition(":")
            if base == "MAKE":
                texts = [self.write_call(call="make")]
            elif base in self.variables:
                texts = self.expand_all(self.variables[base], given)
            else:
                texts = [BUILT_IN.get(base, f"${{{base}}}" if base.isidentifier() else "")]
            old, changes, new = change.partition("=")
            if changes:
                old, new = (old, new) if "%" in old else (f"%{old}", f"%{new}")
                texts = [substitute(old, new, text) for text in texts]
            found += texts
        return list(dict.fromkeys(found))

    def apply(self, name: str, rest: str, given: Mapping[str, str]) -> list[str]:
        """Return what a function of make may return."""
        parts = split_arguments(rest)
        if name == "foreach" and len(parts) == 3:
            variable = parts[0].strip()
            words = " ".join(self.expand(parts[1], given)).split()
            each = (self.expand(parts[2], {**given, variable: word}) for word in words)
            return [" ".join(text for texts in each for text in texts)]
        if name in ("if", "or", "and"):
            parts = (
                [*parts, ""][1:3]
                if self.expand(parts[0], given) and name == "if"
                else parts
            )
            return self.expand_all([part.strip() for part in parts], given)
        if name == "call":
            found: list[str] = []
            for called, *words in product(*(self.expand(each, given) for each in parts)):
                numbered = {str(number): text for number, text in enumerate(words, 1)}
                found += self.expand_all(self.variables.get(called.strip(), [""]), numbered)
            return found
        texts = self.expand(rest, given)
        if name == "shell":
            self.run += texts
            looked_up = [LOOKUP.fullmatch(text) for text in texts]
            return [each[1] if each else UNKNOWN for each in looked_up]
        if name == "eval":
            for text in texts:
                self.read(text)
            return [""]
        if name == "wildcard":
            return [
                " ".join(f for each in text.split() for f in self.find_files(each))
                for text in texts
            ]
        if name == "guile" or (name == "file" and not rest.startswith("<")):
            self.unread.append(f"that calls the function {name}")
        compute: Callable[..., str] = FUNCTIONS.get(name, lambda *_: UNKNOWN)
        try:
            return [compute(*split_arguments(text)) for text in texts]
        except TypeError:
            return [UNKNOWN]
