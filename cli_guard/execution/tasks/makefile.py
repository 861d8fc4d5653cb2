"""A Makefile as GNU make reads it (GNU make manual, "How make reads a makefile")."""

import re
from itertools import takewhile

from cli_guard.commands.model import TaskFile
from cli_guard.execution.tasks.make_text import find_outside, join_lines
from cli_guard.execution.tasks.reader import UNKNOWN, TaskReader, TaskRule

# The name of a variable; in it may be others.
NAME = r"((?:[^\s:#=(){}$+?!]|[+?!](?!=)|\$\([^()]*\)|\$\{[^{}]*\}|\$\w)+)"
MODIFIERS = r"(?:(?:export|override|private|unexport)\s+)*"
ASSIGNMENT = re.compile(rf"\s*{MODIFIERS}{NAME}\s*(:{{1,3}}|[?+!])?=\s*(.*)", re.DOTALL)
DEFINE = re.compile(rf"\s*{MODIFIERS}define\s+(\S+)")
CONDITION = re.compile(r"(else\b)?\s*(?:(ifn?(?:eq|def))\b(.*)|(endif)\b|\Z)", re.DOTALL)
INCLUDE = re.compile(r"(?:-?include|sinclude)\s+(.*)", re.DOTALL)
DIRECTIVE = re.compile(r"(?:(?:un)?export|undefine|vpath)\b(?!\s*:)")
RULE = re.compile(r"(.*?)\s*&?::?\s*(.*)", re.DOTALL)


class MakefileReader(TaskReader):
    """The rules and variables of a Makefile and of those that it includes."""

    whole = False
    current: tuple[TaskRule, ...] = ()
    # How many conditions the line is in.
    conditions = 0

    def finish(self) -> TaskFile:
        # It first makes the files that it reads, also where it only shows commands.
        self.run += [
            f"{self.call} {each}" for each in self.included if each in self.targets
        ]
        return super().finish()

    def list_goals(self) -> list[str]:
        default = self.expand("$(.DEFAULT_GOAL)")
        return [each for each in (*default, *super().list_goals()) if each]

    def read(self, text: str) -> None:
        """Read the lines of a file, or those that `$(eval ...)` makes."""
        lines = join_lines(text)
        for line in lines:
            prefix = "".join(self.variables.get(".RECIPEPREFIX", ()))[:1] or "\t"
            if line.startswith(prefix) and self.current:
                for rule in self.current:
                    rule.recipe.append(line[1:].replace(f"\\\n{prefix}", "\\\n"))
                continue
            line = re.sub(r"\s*\\\n\s*", " ", line)
            line = line[: find_outside(line, "#")].strip()
            if defined := DEFINE.match(line):
                self.assign(defined[1], "", "\n".join(takewhile(is_defining, lines)))
            elif line:
                self.read_line(line)

    def read_line(self, line: str) -> None:
        if (found := CONDITION.match(line)) and found[0]:
            # `else ifdef X` opens no other one.
            self.conditions += bool(found[2] and not found[1]) - bool(found[4])
            self.expand(found[3] or "")
        elif found := INCLUDE.match(line):
            for name in " ".join(self.expand(found[1])).split():
                for path in self.find_files(name) if set("*?[") & set(name) else [name]:
                    if not self.include(path) and UNKNOWN in path:
                        self.unread.append("that a file includes without its name")
        elif found := ASSIGNMENT.match(line):
            self.current = ()
            for name in self.expand(found[1]):
                self.assign(name, found[2] or "", found[3])
        elif not DIRECTIVE.match(line):
            self.read_rule(line)

    def read_rule(self, line: str) -> None:
        at = find_outside(line, ";")
        self.current = ()
        for head in self.expand(line[:at]):
            found = RULE.fullmatch(head)
            if head.split()[:1] == ["load"]:
                self.unread.append("that an extension of make defines")
            elif assigned := ASSIGNMENT.match(line, find_outside(line, ":") + 1):
                # A variable for one target.
                self.conditions += 1
                self.assign(assigned[1], assigned[2] or "", assigned[3])
                self.conditions -= 1
            elif found:
                # `objects: %.o: %.c`
                # Twice, as `.SECONDEXPANSION` has it.
                listed = " ".join(self.expand(found[2].rpartition(":")[2]))
                needs = listed.replace("|", " ").split()
                targets = ["%" if each == ".DEFAULT" else each for each in found[1].split()]
                self.current += (TaskRule(targets, needs, [line[at + 1 :]]),)
        for rule in self.current:
            self.add(rule)

    def assign(self, name: str, operator: str, text: str) -> None:
        """Set a variable, in a condition as one of its values."""
        known = self.variables.get(name, [])
        if operator == "?" and known and not self.conditions:
            return
        if operator == "!":
            self.run += self.expand(text)
            found = [UNKNOWN]
        elif operator == "+":
            found = [f"{each} {text}".strip() for each in known or [""]]
        else:
            found = self.expand(text) if operator.startswith(":") else [text]
        self.set_values(name, [*(known if self.conditions else ()), *found])


def is_defining(line: str) -> bool:
    return not line.strip().startswith("endef")
