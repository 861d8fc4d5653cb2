"""Expand words to the fields a program receives: expansions, quotes, braces, splitting (bash(1), EXPANSION)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import takewhile

from cli_guard.commands.expand.braces import expand_braces
from cli_guard.commands.expand.fields import Field, assemble, field_of
from cli_guard.commands.expand.parameters import (
    GLOB,
    SECRET_NAME,
    VALUES,
    cut,
    join_with_blanks,
    merge_choice,
)
from cli_guard.commands.model import Span
from cli_guard.commands.parse.tree import (
    Computation,
    ParameterExpansion,
    Part,
    Script,
    Substitution,
    Text,
    Word,
)
from cli_guard.commands.plain import is_number
from cli_guard.commands.scope import (
    ANYTHING,
    NOTHING,
    NUMBER,
    TOKEN,
    OutOfBudget,
    ShellScope,
    Stream,
    holds_number,
)
from cli_guard.lazy import dataclass

MOST_FIELDS = 6_000
NOWHERE = Span(0, 0)
# Where programs make temporary files, if no variable says so (environ(7)).
TEMPORARY = "/tmp"  # noqa: S108
# The value of IFS at the start.
BLANKS = " \t\n"
DEFAULTS = (":-", "-", ":=", "=")
CUTS = ("%", "%%", "#", "##")
DECLARATORS = tuple(
    (Text(name),) for name in "declare typeset local export readonly".split()
)
NAMES = re.compile(r"\b[A-Za-z_]\w*")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


def is_assignment(word: Word) -> bool:
    beginning = takewhile(
        lambda part: isinstance(part, Text) and not part.quoted, word.parts
    )
    return bool(
        ASSIGNMENT.match("".join(part.text for part in beginning if isinstance(part, Text)))
    )


@dataclass
class Expander:
    """Expands the words of one shell; `run` runs a substitution and returns what it prints.

    `reject` is told what makes a word uncertain, with the `span` of the word that is expanded.
    """

    scope: ShellScope
    run: Callable[[Script], Stream]
    assign: Callable[[str, Stream, Span], None]
    reject: Callable[[str, Span], None]
    span: Span = NOWHERE

    def fields(self, words: tuple[Word, ...]) -> list[Field]:
        found: list[Field] = []
        declares = bool(words) and words[0].parts[:1] in DECLARATORS
        for word in words:
            # An argument of `declare` that is an assignment is not split.
            found += (
                [self.one(word)]
                if declares and is_assignment(word)
                else self.expand_word(word)
            )
            if len(found) > MOST_FIELDS:
                raise OutOfBudget("more words than are judged")
        return found

    def one(self, word: Word) -> Field:
        """Expand a word that is not split: the right side of an assignment, the target of a redirection."""
        self.span = word.span
        pieces = [self.piece(part) for part in word.parts]
        first = word.parts[0] if len(word.parts) == 1 else None
        if isinstance(first, Substitution) and is_process(first):
            # In its place stands a path.
            path = assemble([replace(pieces[0], text=None, origin="value")], word.span)
            return replace(path, script=first.script, stream=pieces[0])
        return assemble(pieces, word.span)

    def expand_word(self, word: Word) -> Iterator[Field]:
        if not word.parts:
            return
        first = word.parts[0]
        if (
            len(word.parts) == 1
            and isinstance(first, Text)
            and (first.quoted or "{" not in first.text)
        ):
            pattern = not first.quoted and bool(GLOB.search(first.text))
            yield Field(first.text, first.text, word.span, pattern=pattern)
            return
        try:
            expanded = list(expand_braces(word.parts))
        except OutOfBudget as error:
            self.reject(str(error), word.span)
            yield Field(None, "", word.span, many=True)
            return
        for parts in expanded:
            yield from self.split(parts, word.span)

    def split(self, parts: tuple[Part, ...], span: Span) -> Iterator[Field]:
        """Split a word without braces: unquoted expansions are split at blanks."""
        self.span = span
        if is_all_arguments(parts):
            given = self.scope.arguments
            unknown = Field(None, "", span, many=True)
            yield from (
                [unknown] if given is None else (field_of(each, span) for each in given)
            )
            return
        # The pieces of the word that is read, and whether one of them was quoted.
        current: list[Stream] = []
        is_quoted = False
        glob = many = False
        script = stream = None
        for part in parts:
            value = raw = self.piece(part)
            if isinstance(part, Substitution) and is_process(part):
                value = replace(raw, text=None, origin="value")
                script = part.script
                stream = raw
                current.append(value)
                is_quoted = True
            elif part.quoted:
                current.append(value)
                is_quoted = True
            elif isinstance(part, Text):
                glob = glob or bool(GLOB.search(part.text))
                current.append(value)
            elif value.text is None:
                current.append(replace(value, perhaps=True))
                many = many or not is_number(part)
            else:
                glob = glob or bool(GLOB.search(value.text))
                # The names that a pattern found before are split at their blanks.
                many = many or value.glob
                pieces = re.split(r"[ \t\n]+", value.text)
                for piece in pieces[:-1]:
                    current.append(replace(value, text=piece))
                    if is_quoted or any(each.text for each in current):
                        yield assemble(current, span, glob=glob)
                    current = []
                    is_quoted = False
                current.append(replace(value, text=pieces[-1]))
        if many or is_quoted or any(each.text != "" for each in current):
            yield replace(
                assemble(current, span, glob=glob), many=many, script=script, stream=stream
            )

    def piece(self, part: Part) -> Stream:
        if isinstance(part, Text):
            return Stream(part.text)
        if isinstance(part, Computation):
            return self.compute(part.expression)
        if isinstance(part, ParameterExpansion):
            return self.parameter(part)
        output = self.run(part.script)
        if is_process(part) or output.text is None:
            return output
        # The line ends at the end of what `$(...)` prints are dropped.
        return replace(output, text=output.text.rstrip("\n"))

    def compute(self, expression: Word) -> Stream:
        """Expand an arithmetic expression: bash evaluates what a variable holds, so that has to be a number."""
        for part in expression.parts:
            text = part.text if isinstance(part, Text) else ""
            values = [self.variable(name) for name in NAMES.findall(text)]
            if isinstance(part, ParameterExpansion):
                values.append(self.parameter(part))
            if not all(holds_number(each) and not each.perhaps for each in values):
                self.reject(
                    "arithmetic on a value that is not known to be a number", self.span
                )
        # What is negative begins with a dash, as an option does.
        texts = [part.text for part in expression.parts if isinstance(part, Text)]
        result = ANYTHING if "-" in "".join(texts) else NUMBER
        return replace(result, taints=self.one(expression).taints)

    def parameter(self, part: ParameterExpansion) -> Stream:
        """Expand `$name` or `${name...}`; what is outside of the plain subset has an unknown value."""
        value = self.variable(part.name) if part.name else ANYTHING
        if value.perhaps and value.text:
            self.reject("a variable that is set only under a condition", self.span)
        known = part.name in self.scope.variables or value.text is not None
        argument = self.one(part.argument) if part.argument else None
        other = (
            Stream(argument.text, argument.taints, argument.origin) if argument else NOTHING
        )
        several = len(self.scope.arguments or ()) > 1
        if (
            part.name
            and part.name in "@*"
            and (part.operator or (several and part.quoted and part.name == "@"))
        ):
            return Stream(None, value.taints)
        if not part.operator:
            return value
        if part.operator in (":?", "?"):
            return value
        if part.operator in DEFAULTS:
            return self.by_default(part, value, other, known=known)
        if (
            part.operator in CUTS
            and value.text is not None
            and not value.glob
            and other.text is not None
        ):
            shorter = cut(value.text, part.operator, other.text)
            if shorter is not None:
                return replace(value, text=shorter)
        if part.operator[0] == "%":
            return Stream(None, value.taints, "paths" if value.glob else value.origin)
        if part.name == "PIPESTATUS" or part.operator == "#name":
            return NUMBER
        if part.operator[0] == "#":
            # Without its beginning, it may begin with a dash.
            return Stream(None, value.taints)
        taints = value.taints | other.taints
        return Stream(None, taints | {TOKEN} if part.operator == "!name" else taints)

    def by_default(
        self, part: ParameterExpansion, value: Stream, other: Stream, *, known: bool
    ) -> Stream:
        """Expand `${name:-word}` and its like; without the colon, "" counts as a value."""
        is_empty = value.text == "" and (
            part.operator.startswith(":") or part.name not in self.scope.variables
        )
        if part.operator in (":=", "=") and part.argument and (is_empty or not known):
            self.assign(part.name, other, part.argument.span)
        if not known:
            return replace(merge_choice(value, other), assumed=other.text is not None)
        if value.perhaps:
            return Stream(None, value.taints | other.taints)
        return other if is_empty else value

    def variable(self, name: str) -> Stream:
        """Return the value of a variable or a positional parameter."""
        scope = self.scope
        if name in scope.variables:
            return scope.variables[name]
        if name in ("HOME", "PWD"):
            if name == "HOME":
                return Stream("~")
            return Stream(scope.folder or ".", assumed=scope.unsure_folder)
        if name == "IFS":
            return Stream(BLANKS)
        if name == "TMPDIR":
            return Stream(TEMPORARY, assumed=True)
        if name in "@*":
            given = scope.arguments
            return Stream("", assumed=True) if given is None else join_with_blanks(given)
        if name.isdecimal() and name != "0":
            given = scope.arguments
            at = int(name) - 1
            if given is None:
                return ANYTHING
            return given[at] if at < len(given) else NOTHING
        if name in VALUES:
            return Stream(None, frozenset(), "value")
        return Stream(
            None, frozenset((TOKEN,)) if SECRET_NAME.search(name) else frozenset()
        )


def is_process(part: Part) -> bool:
    """Return whether a part is `<(...)` or `>(...)`, in whose place stands a path."""
    return isinstance(part, Substitution) and part.kind in "<>"


def is_all_arguments(parts: tuple[Part, ...]) -> bool:
    """Return whether a word is `"$@"`."""
    full = [
        part
        for part in parts
        if not (isinstance(part, Text) and part.quoted and not part.text)
    ]
    return full == [ParameterExpansion("@", quoted=True)]
