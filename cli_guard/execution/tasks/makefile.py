"""A Makefile as GNU make reads it: its rules, and the commands of a target with the variables filled in.

Both branches of a condition are read, so that a variable may have several values. What `$(shell ...)` prints and what
make would only know as it runs is a variable of the shell that has no value.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from itertools import product

from cli_guard.execution.tasks.make_text import (
    FUNCTIONS,
    find_end,
    find_outside,
    join_lines,
    split_arguments,
    substitute,
)
from cli_guard.lazy import dataclass

# An unknown text within a word, or a word.
UNKNOWN = "${_make_}"
BUILT_IN = {
    "MAKE": "make", "CC": "cc", "CXX": "c++", "CPP": "cc -E", "AR": "ar", "LD": "ld", "AS": "as", "FC": "f77",
    "LEX": "lex", "YACC": "yacc", "RM": "rm -f", "CURDIR": ".", "SHELL": "sh", "MAKECMDGOALS": "*", ".DEFAULT_GOAL": "",
    "LINK.c": "cc", "LINK.o": "cc", "COMPILE.c": "cc -c", "COMPILE.cc": "c++ -c", "OUTPUT_OPTION": "",
}  # fmt: skip
REFERENCE = re.compile(r"\$(?:([({])|(.)|\Z)", re.DOTALL)
# The name of a variable; in it may be others.
NAME = r"((?:[^\s:#=(){}$+?!]|[+?!](?!=)|\$\([^()]*\)|\$\{[^{}]*\}|\$\w)+)"
MODIFIERS = r"(?:(?:export|override|private|unexport)\s+)*"
ASSIGNMENT = re.compile(rf"\s*{MODIFIERS}{NAME}\s*(:{{1,3}}|[?+!])?=\s*(.*)", re.DOTALL)
DEFINE = re.compile(rf"\s*{MODIFIERS}define\s+(\S+)")
CONDITION = re.compile(r"\s*(else\b)?\s*(?:(ifn?(?:eq|def))\b(.*)|(endif)\b|\Z)", re.DOTALL)
INCLUDE = re.compile(r"\s*(?:-?include|sinclude)\s+(.*)", re.DOTALL)
DIRECTIVE = re.compile(r"\s*(?:export\b(?!\s*:)(.*)|(?:unexport|undefine|vpath)\b(?!\s*:))")
RULE = re.compile(r"(.*?)\s*&?::?\s*(.*)", re.DOTALL)
CALLS_MAKE = re.compile(r"\$[({]MAKE[)}]")
LINE_END = re.compile(r"(?<!\\)\n")
UNSET = re.compile(r"\$\{(?!_make_)\w+\}")
# What prints the path of a program.
LOOKUP = re.compile(
    r"\s*(?:which|command -v|type -[pP])\s+([\w.+-]+)\s*(?:2>\s*/dev/null)?\s*"
)
UNSURE = re.compile(r"%|\$\{\w+\}")
AUTOMATIC_PARTS = [f"{name}{part}" for name in "@<^?+*%" for part in "DF"]
SHELL = re.compile(r"(?:\S*/)?(?:env\s+)?(?:ba|da|z|k)?sh(?:\s+-\S+)*\s*\Z|\Z")
SHELL_FLAGS = re.compile(r"(?:[-+][a-z]+|pipefail|\s)*")
# Texts that one text may stand for; levels of references in references.
MOST_TEXTS = 4
MOST_VALUES = 24
MOST_LEVELS = 30
LONGEST_VALUE = 500
MOST_FILES = 200


@dataclass
class MakeRule:
    """One rule: how each target is made, and what is made before."""

    targets: Sequence[str]
    needs: Sequence[str]
    recipe: list[str] = field(default_factory=list)


class MakefileReader:
    """The rules and variables of a Makefile and of those that it includes.

    `open_file` returns the text of a file, None for a missing one, `find_files` what a pattern finds. `given` are
    variables that the command line sets, `call` is how make reads this file once more. `dry`: make only shows
    commands, but for those with a plus and those that call make. `run` has what `$(shell ...)` runs, `unread` what was
    not read.
    """

    def __init__(
        self,
        open_file: Callable[[str], str | None],
        find_files: Callable[[str], Sequence[str]],
        given: Mapping[str, str],
        call: str = "make",
        *,
        dry: bool = False,
    ) -> None:
        self.open_file = open_file
        self.find_files = find_files
        self.given = given
        self.call = call
        self.dry = dry
        self.values = {name.rstrip("?"): [text] for name, text in given.items()}
        self.exported: list[str] = []
        # The rules of each target, in the order of the file, and the targets that are patterns.
        self.targets: dict[str, list[MakeRule]] = {}
        self.patterns: list[str] = []
        self.current: list[MakeRule] = []
        self.included: list[str] = []
        self.run: list[str] = []
        self.unread: list[str] = []
        self.conditions = 0

    def make(self, *words: str) -> str:
        """Return a call of make, which has the exported variables unless it sets them."""
        exported = [
            shlex.quote(f"{name}?={text}")
            for name in dict.fromkeys(self.exported)
            for text in self.values.get(name, ())
            if "$" not in text and len(text) < LONGEST_VALUE
        ]
        return " ".join((*words, *(["-n"] if self.dry else []), *exported))

    def read(self, text: str) -> None:
        """Read the lines of a file, or those that `$(eval ...)` makes."""
        lines = join_lines(text)
        for line in lines:
            prefix = (self.values.get(".RECIPEPREFIX") or ["\t"])[0][:1] or "\t"
            if line.startswith(prefix) and self.current:
                for rule in self.current:
                    rule.recipe.append(line[1:].replace(f"\\\n{prefix}", "\\\n"))
                continue
            line = re.sub(r"\s*\\\n\s*", " ", line)
            line = line[: find_outside(line, "#")].strip()
            if defined := DEFINE.match(line):
                self.assign(defined[1], "=", "\n".join(take_definition(lines)))
            elif line:
                self.read_line(line)

    def read_line(self, line: str) -> None:
        if (found := CONDITION.match(line)) and found[0]:
            # `else ifdef X` opens no other one.
            self.conditions += bool(found[2] and not found[1]) - bool(found[4])
            self.expand(found[3] or "")
        elif found := INCLUDE.match(line):
            for name in self.words(found[1]):
                self.include(name)
        elif found := ASSIGNMENT.match(line):
            self.current = []
            for name in self.expand(found[1]):
                self.assign(name, found[2] or "", found[3])
                self.exported += [name] if "export" in line[: found.start(1)] else []
        elif not (found := DIRECTIVE.match(line)):
            self.read_rule(line)
        elif found[1]:
            self.exported += found[1].split() or [*self.values]

    def read_rule(self, line: str) -> None:
        at = find_outside(line, ";")
        self.current = []
        for head in self.expand(line[:at]):
            if head.split()[:1] == ["load"]:
                self.unread.append("loads an extension of make")
            found = RULE.fullmatch(head)
            if found is None:
                continue
            if assigned := ASSIGNMENT.match(line, find_outside(line, ":") + 1):
                # A variable for one target.
                self.conditions += 1
                self.assign(assigned[1], assigned[2] or "", assigned[3])
                self.conditions -= 1
                continue
            # `objects: %.o: %.c`
            needs = found[2].rpartition(":")[2].replace("|", " ").split()
            targets = ["%" if each == ".DEFAULT" else each for each in found[1].split()]
            self.current.append(MakeRule(targets, needs, [line[at + 1 :]]))
        for rule in self.current:
            for target in rule.targets:
                self.targets.setdefault(target, []).append(rule)
                self.patterns += [target] if "%" in target else []

    def include(self, name: str) -> None:
        for path in self.find_files(name) if set("*?[") & set(name) else [name]:
            text = self.open_file(path)
            if text is not None and path not in self.included:
                self.included.append(path)
                self.read(text)
            elif text is None and UNKNOWN in path:
                self.unread.append("includes a file whose name is only known as it runs")

    def assign(self, name: str, operator: str, text: str) -> None:
        """Set a variable, in a condition as one of its values."""
        known = self.values.get(name, [])
        if name in self.given:
            return
        if operator == "!":
            self.run += self.expand(text)
            found = [UNKNOWN]
        elif operator == "+":
            found = [f"{each} {text}".strip() for each in known or [""]]
        elif operator == "?" and known and not self.conditions:
            return
        else:
            found = self.expand(text) if operator[:1] == ":" else [text]
        kept = known if self.conditions else []
        self.values[name] = list(dict.fromkeys((*kept, *found)))
        if len(self.values[name]) > MOST_VALUES:
            self.values[name] = self.shorten(self.values[name])
        if name == "SHELL" and not all(map(SHELL.match, self.expand(text))):
            self.unread.append("runs its recipes in another program than a shell")
        if name == ".SHELLFLAGS" and not all(map(SHELL_FLAGS.fullmatch, self.expand(text))):
            self.unread.append("gives the shell of its recipes more than options")

    def words(self, text: str) -> list[str]:
        return list(
            dict.fromkeys(word for each in self.expand(text) for word in each.split())
        )

    def expand(self, text: str, given: Mapping[str, str] = {}, level: int = 0) -> list[str]:
        """Return the texts that a text may become; `given` are the automatic variables and arguments."""
        pieces: list[list[str]] = []
        position = 0
        while found := REFERENCE.search(text, position):
            start = found.start()
            end = find_end(text, found.end()) if found[1] else found.end()
            inner = text[found.end() : end - 1] if found[1] else found[2] or ""
            pieces += ([text[position:start]], self.value(inner, given, level + 1))
            # A variable without a value is empty, or comes from the environment: a path, but hardly a program.
            near = text[start - 1 : start] + text[end : end + 1]
            if "/" not in near and text.strip(" \t@+-") != text[start:end]:
                pieces[-1] = ["" if UNSET.fullmatch(each) else each for each in pieces[-1]]
            position = end
        pieces.append([text[position:]])
        count = 1
        for each in pieces:
            count *= len(each)
            if count > MOST_TEXTS:
                count //= len(each)
                each[:] = self.shorten(each)
        return ["".join(each) for each in product(*pieces)]

    def shorten(self, texts: list[str]) -> list[str]:
        """Return one text for several, which is unknown, if they are words and no commands."""
        if any(re.search(r"[;&|<>`\n(]", each) for each in texts):
            self.unread.append("has variables with more values than are read")
        return [UNKNOWN]

    def value(self, inner: str, given: Mapping[str, str], level: int) -> list[str]:
        """Return what a reference may become: `X`, `X:.c=.o`, `function arguments`."""
        if inner in given:
            return [given[inner]]
        if inner == "$" or level > MOST_LEVELS:
            return ["$"] if inner == "$" else [UNKNOWN]
        name, _, rest = inner.replace("\t", " ").partition(" ")
        if rest.strip():
            return self.apply(name, rest.lstrip(), given, level)
        found: list[str] = []
        for each in self.expand(inner, given, level):
            base, _, change = each.partition(":")
            if base == "MAKE":
                texts = [self.make("make")]
            elif base in self.values:
                texts = [
                    text
                    for value in self.values[base]
                    for text in self.expand(value, given, level)
                ]
            else:
                texts = [BUILT_IN.get(base, f"${{{base}}}" if base.isidentifier() else "")]
            old, changes, new = change.partition("=")
            if changes:
                old, new = (old, new) if "%" in old else (f"%{old}", f"%{new}")
                texts = [substitute(old, new, text) for text in texts]
            found += texts
        return list(dict.fromkeys(found))

    def apply(
        self, name: str, rest: str, given: Mapping[str, str], level: int
    ) -> list[str]:
        """Return what a function may return."""
        parts = split_arguments(rest)
        if name == "foreach" and len(parts) == 3:
            return [
                " ".join(
                    text
                    for word in words.split()
                    for text in self.expand(
                        parts[2], {**given, parts[0].strip(): word}, level
                    )
                )
                for words in self.expand(parts[1], given, level)
            ]
        if name == "call":
            found = []
            for called, *words in product(
                *(self.expand(each, given, level) for each in parts)
            ):
                numbered = {str(number): text for number, text in enumerate(words, 1)}
                for body in self.values.get(called.strip(), ()):
                    found += self.expand(body, numbered, level)
            return found or [""]
        if name in ("if", "or", "and"):
            branches = [self.expand(part.strip(), given, level) for part in parts]
            if name == "if":
                branches = [*branches, [""]][1:3]
            return list(dict.fromkeys(each for texts in branches for each in texts))
        texts = self.expand(rest, given, level)
        if name == "shell":
            self.run += texts
            looked_up = [LOOKUP.fullmatch(text) for text in texts]
            return [each[1] if each else UNKNOWN for each in looked_up]
        if name == "eval":
            for text in texts:
                self.read(text)
            return [""]
        if name == "guile" or (name == "file" and not rest.startswith("<")):
            self.unread.append(f"calls the function {name}")
        return [self.compute(name, split_arguments(text)) for text in texts]

    def compute(self, name: str, parts: list[str]) -> str:
        if name == "wildcard":
            return " ".join(
                each for part in parts[0].split() for each in self.find_files(part)
            )
        try:
            return FUNCTIONS[name](*parts) if name in FUNCTIONS else UNKNOWN
        except (TypeError, ValueError):
            return UNKNOWN

    def list_commands(self, target: str) -> tuple[str, ...]:
        """Return the commands for a target of a rule; what it needs is made by another make."""
        commands: list[str] = []
        for rule in self.targets[target]:
            needs = [UNSURE.sub("*", need) for need in rule.needs]
            needs = [shlex.quote(need) for need in needs if self.is_made(need)]
            commands += [self.make(self.call, *needs)] if needs else []
            known = len(self.unread)
            commands += self.list_recipe(rule, target)
            commands += [UNKNOWN] if len(self.unread) > known else []
        return tuple(dict.fromkeys(commands))

    def is_made(self, need: str) -> bool:
        """Return whether a rule makes what has a name, or one of those that a pattern finds."""
        return need in self.targets or any(
            names(target, need)
            for target in (self.targets if "*" in need else self.patterns)
        )

    def list_recipe(self, rule: MakeRule, target: str) -> Iterator[str]:
        """Yield the commands for one target."""
        automatic = dict.fromkeys((*"@<^?+*%|", *AUTOMATIC_PARTS), UNKNOWN)
        if "%" not in target:
            automatic |= {"@": target, "<": " ".join(rule.needs[:1])}
            automatic["^"] = " ".join(rule.needs)
        in_one = ".ONESHELL" in self.targets
        outer = self.run
        for line in ["\n".join(rule.recipe)] if in_one else rule.recipe:
            self.run = []
            for text in self.expand(line, automatic):
                for command in [text] if in_one else LINE_END.split(text):
                    start = len(command) - len(command.lstrip(" \t@+-"))
                    insists = "+" in command[:start] or CALLS_MAKE.search(line)
                    if command[start:].strip() and (insists or not self.dry):
                        yield command[start:]
            yield from self.run
        self.run = outer


def take_definition(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines up to the `endef` of a definition, in which there may be others."""
    depth = 1
    for line in lines:
        depth += bool(DEFINE.match(line)) - line.strip().startswith("endef")
        if not depth:
            return
        yield line


def names(target: str, need: str) -> bool:
    """Return whether a target is, or may be, what is needed, which may be a pattern; `%` is any text."""
    if "%" not in target + need and "*" not in need:
        return target == need
    return fnmatchcase(target, need) or fnmatchcase(need, UNSURE.sub("*", target))
