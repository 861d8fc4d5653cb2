"""A call of a program as far as its words go: options, operands, and the effects that are named after it."""

import re
from dataclasses import dataclass, field
from functools import cached_property

from cli_guard.commands import floors
from cli_guard.commands.effects.arguments import Arguments, read_arguments
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.machine import Machine
from cli_guard.commands.model import GUARD_OFF, HARMLESS, Kind, Span
from cli_guard.commands.programs import Spec
from cli_guard.commands.scope import Stream

# A reason of the table that is a sentence of its own, and does not go on from the name of the program.
NOUNS = re.compile(r"(?:an?|the|another|what|services|commands)\b")
REST = re.compile(r"\{rest\|([^}]*)\}")
HELP = frozenset(("--help", "-h", "-help", "--version", "-V", "-version", "-?"))

PHRASES = {
    Kind.READ: "reads files",
    Kind.SERVICE_READ: "queries a service",
    Kind.WRITE: "writes files",
    Kind.DELETE: "deletes files",
    Kind.NETWORK_IN: "downloads from the network",
    Kind.NETWORK_OUT: "connects to the network",
    Kind.EXEC: "runs code",
    Kind.GIT_WRITE: "changes the repository",
    Kind.SERVICE_WRITE: "changes data of a service",
    Kind.CREDENTIAL: "shows or changes a secret",
    Kind.PERSISTENCE: "makes something run automatically later",
    Kind.GUARD: "switches Git hooks or cli-guard off",
    Kind.PRIVILEGE: "runs with the rights of another user",
    Kind.PROCESS: "acts on other processes",
    Kind.SYSTEM: "changes the system",
    Kind.UNKNOWN: "has an unknown effect",
}


@dataclass
class Called:
    """One call. `fields` are its words, the name first."""

    shell: Machine
    fields: list[Field]
    stdin: Stream
    span: Span
    program: Spec
    reads: list[Stream] = field(default_factory=list)
    written: list[tuple[Field, str]] = field(default_factory=list)
    kinds: set[Kind] = field(default_factory=set)
    took_input: bool = False

    @cached_property
    def arguments(self) -> Arguments:
        """The words by the table of the program."""
        return read_arguments(self.program, self.fields[1:])

    @property
    def spec(self) -> Spec:
        """The table of the sub-command, or of the program if there is none."""
        return self.arguments.spec

    @property
    def looks(self) -> bool:
        """Is there an option that makes the program only look, such as `--check`?"""
        own = (o for o in self.arguments.present if self.spec.options.get(o.names[0]) is o)
        return any(option.effect in HARMLESS for option in own)

    @property
    def title(self) -> str:
        """The program and its sub-command, for people."""
        return self.spec.name.replace("-", " ") if self.spec.program != self.program.name else self.spec.name

    def replace_fields(self, fields: list[Field]) -> None:
        """The words turn out to be others."""
        self.fields = fields
        self.__dict__.pop("arguments", None)

    def asks_for_help(self) -> bool:
        """Is the only word behind the program, or behind its sub-command, one that asks for help?"""
        words = self.fields[1:]
        if self.arguments.sub_command in words:
            words = words[words.index(self.arguments.sub_command) + 1 :]
        own = self.spec.options.get(words[0].start) if len(words) == 1 else None
        return len(words) == 1 and words[0].text in HELP and (own is None or own.harmless)

    def effect(
        self, kind: Kind, target: str | None, reason: str, span: Span, rule: str = "", alternative: str = ""
    ) -> None:
        """One effect of this call; `reason` may be empty."""
        self.kinds.add(kind)
        # That a program wipes disks says nothing of what it is pointed at: the paths say that.
        rule = GUARD_OFF if kind is Kind.GUARD else "" if rule in (floors.DISK, floors.WIPE) else rule
        text = (
            f"{self.title}{': ' if NOUNS.match(reason) else ' '}{self.with_operands(reason) or PHRASES[kind]}"
        )
        better = alternative or self.spec.alternative
        self.shell.emit(kind, target, text, span, rule=rule, alternative=better)

    def with_operands(self, reason: str) -> str:
        """A reason of the table with the operands after the first in the place of `{rest|what if there are none}`."""
        if "{rest|" not in reason:
            return reason
        rest = " ".join(each.shown for each in self.arguments.operands[1:])
        return REST.sub(lambda found: rest or found[1], reason)

    def environment(self, words: list[Field]) -> list[Field]:
        """`NAME=VALUE` in front of a command is set; gives the words of the command."""
        for at, word in enumerate(words):
            name, equals, value = word.start.partition("=")
            if not equals or not name.isidentifier():
                return words[at:]
            self.shell.environment(name, value if word.text is not None else None, word.span)
        return []
