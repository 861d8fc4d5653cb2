"""The words of one call: options, operands, and the effects that carry their names."""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from cli_guard.commands import floors
from cli_guard.commands.effects.arguments import (
    CallArguments,
    operand_kinds,
    read_arguments,
)
from cli_guard.commands.effects.paths import path_of
from cli_guard.commands.effects.places import is_credential
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.invocations import NODE
from cli_guard.commands.model import HARMLESS, Context, EffectKind, Span
from cli_guard.commands.programs import MODULES, Spec
from cli_guard.commands.scope import ShellScope, Stream
from cli_guard.commands.shell import Shell
from cli_guard.lazy import dataclass, regex
from cli_guard.rules import data
from cli_guard.rules.tables import other_names, words

# A reason in the table that is a whole sentence and does not continue the program's name.
NOUNS = regex(r"(?:an?|the|another|what|services|commands)\b")
FILLED = regex(r"\{(?:rest|package)\|([^}]*)\}")
HELP = frozenset(("--help", "-h", "-help", "--version", "-V", "-version", "-?"))

# Sub-commands of which nothing is left: `delete`, `terminate-instances`.
DELETES = regex(r"(?:delete|destroy|remove|rm|drop|purge|terminate|uninstall)\b")
DELETED = "deletes data of a service"
PHRASES: Mapping[str, str] = data.read("effects.toml")["phrases"]


@dataclass
class Call:
    """One call; `fields` are its words, the name first."""

    shell: Shell
    fields: list[Field]
    stdin: Stream
    span: Span
    program: Spec
    reads: list[Stream] = field(default_factory=list)
    written: list[tuple[Field, str]] = field(default_factory=list)
    kinds: set[EffectKind] = field(default_factory=set)
    took_input: bool = False
    # What comes into the files that it changes.
    new_text: str | None = None

    @property
    def scope(self) -> ShellScope:
        return self.shell.scope

    @property
    def context(self) -> Context:
        return self.shell.context

    @property
    def operands(self) -> list[Field]:
        return self.arguments.operands

    @cached_property
    def arguments(self) -> CallArguments:
        """Parse the words with the table of the program."""
        return read_arguments(self.program, self.fields[1:])

    @property
    def spec(self) -> Spec:
        """Return the table of the sub-command, or of the program if it has none."""
        return self.arguments.spec

    @property
    def looks(self) -> bool:
        """Return whether an option such as `--check` makes the program read-only."""
        own = (o for o in self.arguments.present if self.spec.options.get(o.names[0]) is o)
        return any(option.effect in HARMLESS for option in own)

    @property
    def dry(self) -> bool:
        """Return whether an option (`--dry-run`) makes the program only print what it would change."""
        return self.arguments.has(*self.program.dry.split())

    @property
    def title(self) -> str:
        """Return program and sub-command for display, the program by the name that was called."""
        own = self.spec.program == self.program.name
        name = self.spec.name if own else self.spec.name.replace("-", " ")
        called = self.fields[0].start.rpartition("/")[2]
        if called == MODULES:
            return name.replace(MODULES, "python -m", 1)
        known = called[:1].isalpha() and called in other_names()
        return name.replace(self.program.name, called, 1) if known else name

    def replace_fields(self, fields: list[Field]) -> None:
        self.fields = fields
        for name in ("arguments", "help_words", "help_word"):
            self.__dict__.pop(name, None)

    def find_walked(self) -> list[str]:
        """Return the folders below which the call reads or names every file, hidden ones included."""
        table = words("recursive")
        given = self.arguments
        options = table["options"].get(self.spec.name)
        if (
            options is None
            or (options and not given.has(*options))
            or given.has(*table["listing"])
        ):
            return []
        including = table["including"].get(self.spec.name, ())
        for option, value in given.values:
            names = {*option.names}
            left_out = value.start.removeprefix("!")
            if names.intersection(including) and left_out == value.start:
                return []
            if names.intersection(table["excluding"]) and is_credential(left_out):
                return []
        searches = any(kind.startswith(EffectKind.READ) for kind in operand_kinds(given))
        folders = (
            [each for kind, each in given.kinds if kind == EffectKind.READ]
            if searches
            else given.operands
        )
        if not folders:
            return [self.scope.folder or "."]
        return [path_of(self.shell, each) for each in folders if each.start]

    @cached_property
    def help_words(self) -> frozenset[str]:
        """Return the words that, alone, print the help or the version and load nothing of the project."""
        given = self.program.help if self.spec.help is None else self.spec.help
        if given is None:
            if self.spec.loads == "" or not self.program.loads_code:
                return HELP
            return frozenset()
        return HELP if given == "any" else frozenset(given.split())

    @cached_property
    def help_word(self) -> str | None:
        """Return the word that asks for help if it is the only one besides the program and its sub-command."""
        words = self.fields[1:]
        if self.arguments.sub_command in words:
            at = words.index(self.arguments.sub_command)
            # An option before the sub-command may name a configuration: `git -c man.viewer=x log --help`.
            words = (
                []
                if any(word.start.startswith("-") for word in words[:at])
                else words[at + 1 :]
            )
        if len(words) != 1 or words[0].text not in HELP | self.help_words:
            return None
        own = self.spec.options.get(words[0].start)
        return words[0].text if own is None or own.harmless else None

    def is_help_request(self) -> bool:
        """Return whether the call asks for nothing but help or the version."""
        return self.help_word is not None

    def effect(
        self,
        kind: EffectKind,
        target: str | None,
        reason: str,
        span: Span | None = None,
        rule: str = "",
        alternative: str = "",
    ) -> None:
        """Emit an effect of this call, at the place of the call by default; `reason` may be empty."""
        self.kinds.add(kind)
        # A program that wipes disks is judged by the paths it gets.
        if rule in (floors.DISK, floors.WIPE):
            rule = ""
        said = self.with_operands(reason) or self.describe(kind)
        text = f"{self.title}{': ' if NOUNS.match(reason) else ' '}{said}"
        better = alternative or self.spec.alternative
        self.shell.emit(
            kind, target, text, span or self.span, rule=rule, alternative=better
        )

    def describe(self, kind: EffectKind) -> str:
        """Return what an effect of a kind is where the table does not say it."""
        if kind is EffectKind.SERVICE_WRITE and any(
            map(DELETES.match, self.title.split(" ")[1:])
        ):
            return DELETED
        return PHRASES[kind]

    def with_operands(self, reason: str) -> str:
        """Fill `{rest|fallback}` in a reason with the operands after the first, `{package|...}` with what it starts."""
        if "{rest|" in reason:
            rest = " ".join(each.shown for each in self.arguments.operands[1:])
        elif "{package|" in reason:
            rest = self.name_package()
        else:
            return reason
        return FILLED.sub(lambda found: rest or found[1], reason)

    def name_package(self) -> str:
        """Return which program of a package runs, and whether the work tree has it; "" if that is not known."""
        tree = self.context.tree
        rest = self.arguments.rest
        if tree is None or not rest or not rest[0].text:
            return ""
        name = rest[0].text
        folders = {self.scope.folder, self.context.root}
        if any(tree.exists(f"{folder}/{NODE}/{name}") for folder in folders if folder):
            return f"{name} of {NODE}"
        return f"{name}, which is not in {NODE}, so it is fetched"

    def invoke(self, words: list[Field], stdin: Stream | None = None) -> Stream:
        """Run a command at the place of this one, with its input by default."""
        return self.shell.invoke(words, self.stdin if stdin is None else stdin, self.span)

    def reject(self, construct: str, span: Span | None = None) -> None:
        """Emit that a construct is outside of the plain subset, at the place of the call by default."""
        self.shell.reject(construct, span or self.span)

    def environment(self, words: list[Field]) -> list[Field]:
        """Set each `NAME=VALUE` in front of a command; return the words of the command."""
        for at, word in enumerate(words):
            name, equals, value = word.start.partition("=")
            # env(1) takes any name, also one that only bash reads: `BASH_FUNC_ls%%=() { ...; }`.
            if not equals or not name or "/" in name:
                return words[at:]
            self.shell.environment(
                name, value if word.text is not None else None, word.span
            )
        return []
