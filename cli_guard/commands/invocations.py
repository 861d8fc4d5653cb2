"""The commands found in a script, against which the configuration's patterns are matched."""

import re
from dataclasses import replace
from functools import cached_property

from cli_guard.commands.effects.arguments import CallArguments, read_arguments
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.model import Span
from cli_guard.commands.programs import Spec, sub_command, table
from cli_guard.commands.scope import Stream, drop_places, taints_of
from cli_guard.lazy import dataclass

SYSTEM_PROGRAMS = re.compile(r"(?:/usr(?:/local)?|/opt/homebrew)?/s?bin/[^/]+\Z")
# Folders of a work tree with the programs that were installed for the project.
NODE = "node_modules/.bin"
INSTALLED = (".venv/bin", "venv/bin", NODE, "vendor/bin", "bin", ".venv/Scripts")
# Runners that look into an environment of the project and fetch nothing by name.
ENVIRONMENTS = frozenset(("uv", "poetry", "pdm", "pipenv", "bundle", "hatch"))


@dataclass(frozen=True, eq=False)
class ProgramInvocation:
    """One command with its words, and the folder it runs in (None if unknown).

    `parent` is the command whose words it is part of (`uv run`).
    """

    fields: tuple[Field, ...]
    stdin: Stream
    span: Span
    parent: "ProgramInvocation | None" = None
    folder: str | None = None

    @property
    def name(self) -> str:
        """Return the name or path of the program, empty if unknown before it runs."""
        return self.fields[0].text or "" if self.fields[0].known else ""

    @property
    def program(self) -> str:
        """Return the name of the program without its folder."""
        return self.name.rpartition("/")[2]

    @property
    def words(self) -> list[str]:
        """Return the words after the program, as far as they are known."""
        return [each.start for each in self.fields[1:]]

    @cached_property
    def arguments(self) -> CallArguments:
        """Return the words after the program, as its table reads them; `git-add` is read as `git add`."""
        name = self.program
        fields = list(self.fields[1:])
        spec = table(name)
        if spec is None and name.startswith("git-"):
            spec = table("git")
            name = name.removeprefix("git-")
            fields = [replace(self.fields[0], text=name, start=name), *fields]
        return read_arguments(spec or Spec(name), fields)

    @cached_property
    def plain(self) -> bool:
        """Return whether all words are known and no input came from the network or is a secret."""
        tainted = drop_places(taints_of((self.stdin, *self.fields)))
        return not tainted and all(each.known for each in self.fields)

    @cached_property
    def spelled(self) -> tuple[tuple[Field, ...], bool]:
        """Return the words without options before sub-commands, and whether the dropped options are harmless."""
        spec = table(self.program)
        rest = self.fields[1:]
        kept = [self.fields[0]]
        harmless = True
        while spec and spec.commands:
            bare = replace(spec, commands={}, operands=())
            operand = next(iter(read_arguments(bare, list(rest)).operands), None)
            below = sub_command(spec, operand.text) if operand and operand.text else None
            if below is None:
                break
            at = next(at for at, word in enumerate(rest) if word is operand)
            before = read_arguments(bare, list(rest[:at]))
            harmless = (
                harmless
                and not before.unknown
                and all(each.harmless for each in before.present)
            )
            kept.append(rest[at])
            spec = below
            rest = rest[at + 1 :]
        return (*kept, *rest), harmless
