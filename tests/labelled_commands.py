"""The labelled commands of fixtures/commands, and which of them may be put into other commands."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cli_guard.commands.model import Context
from cli_guard.model import Decision

FOLDER = Path(__file__).parents[1] / "fixtures" / "commands"

# One simple command of plain words: a prefix such as `nice` may stand before it, and its words may be quoted.
PLAIN = re.compile(r"[A-Za-z.][\w./-]*( [\w./:@%,+=^-]+)+")
# What is no program, so that no prefix can run it: the words of the shell itself.
BUILT_IN = frozenset(
    "alias builtin case cd coproc declare eval exec exit export for function if pushd set source time trap "
    "typeset until while .".split()
)


@dataclass(frozen=True)
class Labelled:
    """A command, what its verdict should be, and the class that it is counted in."""

    command: str
    verdict: Decision
    group: str
    context: Context = field(default_factory=Context)

    @property
    def simple(self) -> bool:
        """Whether it is one program with plain words."""
        return (
            bool(PLAIN.fullmatch(self.command)) and self.command.split()[0] not in BUILT_IN
        )

    def __str__(self) -> str:
        return f"{self.group}: {self.command}"


def of_line(line: str) -> Labelled:
    """One line of a fixture."""
    row = json.loads(line)
    given = row.get("context", {})
    config: Mapping[str, list[str]] = given.get("git_config", {})
    names = frozenset(given["names"]) if "names" in given else None
    context = Context(
        git_config={key: tuple(values) for key, values in config.items()}, names=names
    )
    return Labelled(row["command"], Decision(row["verdict"]), row["class"], context)


def every(*, borderline: bool = False) -> list[Labelled]:
    """All of them; the borderline ones, where reasonable people differ, apart."""
    lines = [
        line
        for path in sorted(FOLDER.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return [
        case for case in map(of_line, lines) if (case.group == "borderline") is borderline
    ]
