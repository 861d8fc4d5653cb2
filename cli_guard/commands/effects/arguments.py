"""Match the words of a command with the table of its program: options, values, operands."""

from collections.abc import Container
from dataclasses import field, replace

from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.programs import REPEATED, Option, Spec, sub_command
from cli_guard.lazy import dataclass

REST = ("command", f"shell{REPEATED}")


@dataclass
class CallArguments:
    """The parsed words of one command.

    `values`: options with a value. `present`: every option found. `operands`: each with its kind. `rest`: the words of
    a command that this one runs. `unknown`: options and operands missing from the table. `loose`: words that may expand
    to options.
    """

    spec: Spec
    present: list[Option] = field(default_factory=list)
    values: list[tuple[Option, Field]] = field(default_factory=list)
    operands: list[Field] = field(default_factory=list)
    kinds: list[tuple[str, Field]] = field(default_factory=list)
    rest: list[Field] = field(default_factory=list)
    unknown: list[Field] = field(default_factory=list)
    loose: list[Field] = field(default_factory=list)
    sub_command: Field | None = None
    appended: bool = False

    def list_words(self, kinds: Container[str]) -> list[Field]:
        """Return the operands, and the values of options, of some kinds."""
        valued = [(option.takes, value) for option, value in self.values]
        return [word for kind, word in (*self.kinds, *valued) if kind in kinds]

    def has(self, *names: str) -> bool:
        return any(name in option.names for option in self.present for name in names)


HARM = {
    "text": 0,
    "task": 0,
    "verb": 0,
    "setting": 0,
    "read": 1,
    "service-read": 1,
    "write": 3,
    "move": 4,
    "delete": 4,
    "empty": 4,
}
HELP = {name: Option((name,)) for name in ("--help", "--version")}


def read_arguments(spec: Spec, fields: list[Field]) -> CallArguments:
    """Parse the words after the program's name with its table."""
    found = CallArguments(spec)
    Reader(found, fields).read()
    found.kinds = list(pair_operands(found))
    return found


@dataclass
class Reader:
    """Parser that goes through the words once, from left to right."""

    found: CallArguments
    fields: list[Field]
    at: int = 0
    ended: bool = False

    def read(self) -> None:
        found = self.found
        self.ended = found.spec.parsing == "none"
        while self.at < len(self.fields):
            word = self.fields[self.at]
            self.at += 1
            if not self.ended and word.text == "--":
                self.ended = True
                if (
                    found.spec.operands
                    and found.spec.operands[-1] in REST
                    and self.at < len(self.fields)
                ):
                    found.rest = self.fields[self.at :]
                    return
            elif (
                not self.ended
                and word.start.startswith("-")
                and (word.start != "-" or word.text is None)
            ):
                self.option(word)
            elif found.spec.parsing == "pairs" and "=" in word.start:
                self.pair(word)
            elif not found.operands and self.enters(word):
                self.ended = found.spec.parsing == "none"
            else:
                if not self.ended and word.is_open:
                    found.loose.append(word)
                if self.takes_rest(word):
                    return
                self.ended = self.ended or found.spec.parsing == "posix"

    def enters(self, word: Field) -> bool:
        """Return whether the word is a sub-command; if so, its table applies from here on."""
        if word.text is None:
            return False
        below = sub_command(self.found.spec, word.text)
        if below is None:
            return False
        self.found.spec = below
        self.found.sub_command = word
        return True

    def takes_rest(self, word: Field) -> bool:
        """Add an operand; return whether it starts a command that takes all remaining words."""
        found = self.found
        kinds = operand_kinds(found)
        place = len(found.operands)
        if place < len(kinds) and kinds[place] in REST:
            found.rest = [word, *self.fields[self.at :]]
            return True
        found.operands.append(word)
        return False

    def option(self, word: Field) -> None:
        """Parse one word that begins with a dash."""
        if word.is_open:
            self.found.loose.append(word)
        if word.text is None and not word.start.rstrip("-"):
            self.found.loose.append(word)
            return
        # A table may name an option with one of its values: `--dry-run=client`.
        whole = word.text in self.found.spec.options
        name, equals, _ = (word.start, "", "") if whole else word.start.partition("=")
        if word.text is None and not equals:
            self.read_unfinished(word)
            return
        options = self.find_options(name)
        if options:
            given = cut_start(word, len(name) + 1) if equals else None
            if given is not None and not options[0].takes and given.text != "true":
                # `-check=false` of a Go program is the opposite of the `-check` in the table.
                self.found.unknown.append(word)
            if options[0].takes == "command":
                self.runs(options[0], given)
                return
            for option in options:
                self.take(option, given)
            if options[0].takes and not equals and not options[0].optional:
                self.at += 1
        elif (
            word.start.startswith("--")
            or self.found.spec.parsing == "single"
            or not self.cluster(word)
        ):
            self.found.unknown.append(word)

    def read_unfinished(self, word: Field) -> None:
        """Add an option whose end is unknown: an attached value (`-n$n`), or any option with this prefix."""
        option = self.found.spec.options.get(word.start)
        if option and option.takes and not word.start.startswith("--"):
            self.take(option, cut_start(word, len(word.start)))
        elif word.start.startswith("--") or not self.cluster(word):
            self.found.loose.append(word)

    def runs(self, option: Option, attached: Field | None) -> None:
        """Add the command that an option runs, up to a `;` (fd -x); what the program finds is appended to it."""
        self.found.present.append(option)
        end = next(
            (i for i in range(self.at, len(self.fields)) if self.fields[i].text == ";"),
            len(self.fields),
        )
        self.found.rest = [*([attached] if attached else []), *self.fields[self.at : end]]
        self.found.appended = True
        self.at = end + 1

    def find_options(self, name: str) -> list[Option]:
        """Return the options that a name means: itself, or those it abbreviates."""
        options = self.found.spec.options
        if name in options:
            return [options[name]]
        if name in HELP:
            return [HELP[name]]
        if not name.startswith("--") or len(name) < 3:
            return []
        if self.found.spec.parsing == "single" and name[1:] in options:
            return [options[name[1:]]]
        fitting = {
            long: option
            for long, option in options.items()
            if long.startswith(name) and "=" not in long
        }
        longer = {id(option): option for option in fitting.values()}
        found = sorted(longer.values(), key=lambda option: option.harmless)
        return found or (
            [Option((name,), "text", optional=True)] if self.found.spec.others else []
        )

    def take(self, option: Option, given: Field | None) -> None:
        """Add an option with its value: attached, or the next word."""
        self.found.present.append(option)
        if not option.takes:
            return
        if given is None and not option.optional and self.at < len(self.fields):
            given = self.fields[self.at]
            if given.is_open and (given.many or given.pattern):
                # It may expand to several words, the second of which is an option.
                self.found.loose.append(given)
        if given is not None:
            self.found.values.append((option, given))
        # The words after the code or module of an interpreter are arguments of that code.
        self.ended = self.ended or option.takes in ("module", "code:python")

    def cluster(self, word: Field) -> bool:
        """Parse `-anm MSG`, short options in one word; return False if one is unknown (the others are kept)."""
        options = self.found.spec.options
        letters = word.start[1:]
        if "-#" in options:
            letters = letters.lstrip("0123456789")
        for at, letter in enumerate(letters):
            option = options.get(f"-{letter}")
            if option is None:
                return letters[at:].isdecimal() and "-#" in options
            if option.takes == "command":
                attached = (
                    cut_start(word, len(word.start) - len(letters) + at + 1)
                    if at + 1 < len(letters)
                    else None
                )
                self.runs(option, attached)
                return True
            more = at + 1 < len(letters) or word.text is None
            length = len(word.start) - len(letters) + at + 1
            self.take(option, cut_start(word, length) if more and option.takes else None)
            if option.takes:
                if not more and not option.optional:
                    self.at += 1
                return True
        return word.text is not None

    def pair(self, word: Field) -> None:
        """Parse `of=FILE` of dd."""
        key = word.start.partition("=")[0]
        option = self.found.spec.options.get(key)
        if option is None:
            self.found.unknown.append(word)
        else:
            self.take(option, cut_start(word, len(key) + 1))


def cut_start(word: Field, length: int) -> Field:
    """Return a field without its first characters."""
    rest = word.start[length:]
    if word.text is not None:
        return literal(
            rest.removeprefix("=") if length == 2 and rest.startswith("=") else rest,
            word.span,
            like=word,
        )
    return replace(word, start=rest)


def operand_kinds(found: CallArguments) -> tuple[str, ...]:
    """Return the kinds of the operands under the options present; where options disagree, the most harmful."""
    changes = [option for option in found.present if option.operands is not None]
    if not changes:
        return found.spec.operands
    return max(changes, key=lambda option: harm(option.operands or ())).operands or ()


def harm(kinds: tuple[str, ...]) -> int:
    """Return the rank of the most harmful of these kinds."""
    plain = [kind.removesuffix(REPEATED) for kind in kinds]
    return max((HARM.get(kind, 2) for kind in plain), default=0)


def pair_operands(found: CallArguments) -> "list[tuple[str, Field]]":
    """Pair each operand with its kind; those beyond the list are unknown."""
    kinds = operand_kinds(found)
    operands = found.operands
    repeated = next(
        (at for at, kind in enumerate(kinds) if kind.endswith(REPEATED)), len(kinds)
    )
    several = [
        at for at, each in enumerate(operands[:repeated]) if each.many or each.pattern
    ]
    # `uniq *` of two names writes the second.
    more = [
        (kind.removesuffix(REPEATED), operands[at])
        for at in several
        for kind in kinds[at + 1 :]
    ]
    if repeated == len(kinds):
        found.unknown += operands[len(kinds) :]
        return [*zip(kinds, operands, strict=False), *more]
    last = kinds[repeated + 1 :]
    before = kinds[:repeated]
    middle = max(0, len(operands) - len(before) - len(last))
    spread = (*before, *[kinds[repeated].removesuffix(REPEATED)] * middle, *last)
    return [*zip(spread, operands, strict=False), *more]
