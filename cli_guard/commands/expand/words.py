"""Expand words to the fields a program receives: expansions, quotes, braces, splitting (bash(1), EXPANSION)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from cli_guard.commands.expand.braces import expand_braces
from cli_guard.commands.expand.fields import Field, assemble, field_of
from cli_guard.commands.expand.parameters import (
    GLOB,
    SECRET_NAME,
    VALUES,
    element,
    join_with_blanks,
    merge_choice,
    transform,
)
from cli_guard.commands.model import Span
from cli_guard.commands.parse.quoting import hidden_substitutions
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import Parameter, Part, Script, Substitution, Text, Word
from cli_guard.commands.scope import (
    ANYTHING,
    NOTHING,
    TOKEN,
    UNSET,
    OutOfBudget,
    Scope,
    Stream,
)

MOST_FIELDS = 20_000
BY_DEFAULT = frozenset((":-", "-", ":=", "=", ":+", "+"))
DECLARATORS = tuple((Text(name, False),) for name in "declare typeset local export readonly".split())
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


def is_assignment(word: Word) -> bool:
    beginning = takewhile(lambda part: isinstance(part, Text) and not part.quoted, word.parts)
    return bool(ASSIGNMENT.match("".join(part.text for part in beginning if isinstance(part, Text))))


@dataclass
class Expander:
    """Expands the words of one shell; `run` runs a substitution and returns what it prints."""

    scope: Scope
    run: Callable[[Script, str], Stream]
    assign: Callable[[str, Stream, Span], None]

    def fields(self, words: tuple[Word, ...]) -> list[Field]:
        found: list[Field] = []
        declares = bool(words) and words[0].parts[:1] in DECLARATORS
        for word in words:
            # An argument of `declare` that is an assignment is not split.
            found += [self.one(word)] if declares and is_assignment(word) else self.expand_word(word)
            if len(found) > MOST_FIELDS:
                raise OutOfBudget("more words than are judged")
        return found

    def one(self, word: Word | None) -> Field:
        """Expand a word that is not split: the right side of an assignment, the target of a redirection."""
        if word is None:
            return Field("", "", Span(0, 0))
        pieces = [self.piece(part) for part in word.parts]
        if word.parts and all(isinstance(part, Substitution) and part.kind in "<>" for part in word.parts):
            pieces = [replace(piece, text=None, origin="value") for piece in pieces]
        given = assemble([(stream, True) for stream in pieces], word.span)
        if len(word.parts) == 1 and isinstance(word.parts[0], Substitution) and word.parts[0].kind in "<>":
            return replace(given, script=word.parts[0].script, stream=pieces[0])
        return given

    def expand_word(self, word: Word) -> Iterator[Field]:
        if not word.parts:
            return
        first = word.parts[0]
        if len(word.parts) == 1 and isinstance(first, Text) and (first.quoted or "{" not in first.text):
            pattern = not first.quoted and bool(GLOB.search(first.text))
            yield Field(first.text, first.text, word.span, pattern=pattern)
            return
        for parts in expand_braces(word.parts):
            yield from self.split(parts, word.span)

    def split(self, parts: tuple[Part, ...], span: Span) -> Iterator[Field]:
        """Split a word without braces: unquoted expansions are split at blanks."""
        elements = self.elements(parts)
        if elements is not None:
            yield from (field_of(element, span) for element in elements)
            return
        current: list[tuple[Stream, bool]] = []
        glob = many = False
        script = stream = None
        for part in parts:
            value = raw = self.piece(part)
            if isinstance(part, Substitution) and part.kind in "<>":
                value = replace(raw, text=None, origin="value")
            is_quoted = part.quoted
            if isinstance(part, Text):
                glob = glob or (not is_quoted and bool(GLOB.search(part.text)))
                current.append((value, is_quoted))
                continue
            if isinstance(part, Substitution) and part.kind in "<>":
                script, stream = part.script, raw
            if is_quoted or (isinstance(part, Substitution) and part.kind != "$"):
                current.append((value, True))
            elif value.text is None:
                current.append((value, False))
                many = many or value.origin != "value"
            else:
                glob = glob or bool(GLOB.search(value.text))
                pieces = self.split_value(value.text)
                for piece in pieces[:-1]:
                    current.append((replace(value, text=piece), False))
                    if any(stream.text or known for stream, known in current):
                        yield assemble(current, span, glob=glob)
                    current = []
                current.append((replace(value, text=pieces[-1]), False))
        if many or any(is_quoted or stream.text != "" for stream, is_quoted in current):
            yield replace(assemble(current, span, glob=glob), many=many, script=script, stream=stream)

    def elements(self, parts: tuple[Part, ...]) -> tuple[Stream, ...] | None:
        """Return the words of `"$@"` or `"${array[@]}"`; None for other words and unknown arrays."""
        full = [part for part in parts if not (isinstance(part, Text) and part.quoted and not part.text)]
        if len(full) != 1 or not isinstance(full[0], Parameter):
            return None
        part = full[0]
        if part.name == "@" and not part.operator:
            return self.scope.arguments if part.quoted else None
        if part.operator == "[@]" and part.quoted and part.name in self.scope.variables:
            return self.scope.variables[part.name].items
        return None

    def split_value(self, text: str) -> list[str]:
        """Split an unquoted value at blanks, or at the characters of `IFS`."""
        given = self.scope.variables.get("IFS", UNSET)
        if given.text is None or given == UNSET:
            return re.split(r"[ \t\n]+", text)
        if not given.text:
            return [text]
        blanks = "".join(sorted(set(given.text) & set(" \t\n")))
        if blanks:
            text = text.strip(blanks)
        return re.split(f"[{re.escape(given.text)}]+", text)

    def piece(self, part: Part) -> Stream:
        if isinstance(part, Text):
            return Stream(part.text)
        if isinstance(part, Substitution):
            return self.run_substitution(part)
        return self.parameter(part)

    def run_substitution(self, part: Substitution) -> Stream:
        """Return what a substitution prints, without the line ends at its end."""
        output = self.run(part.script, part.kind)
        if part.kind == "((":
            return Stream(None, output.taints, "value")
        if part.kind in "<>":
            return output
        return output if output.text is None else replace(output, text=output.text.rstrip("\n"))

    def parameter(self, part: Parameter) -> Stream:
        """Expand `$name` or `${name...}`."""
        value = self.variable(part.name)
        known = part.name in self.scope.variables or value.text is not None
        argument = self.one(part.argument) if part.argument else None
        other = Stream(argument.text, argument.taints, argument.origin) if argument else NOTHING
        if part.operator == "!@":
            return Stream(None, frozenset(), "value")
        if part.operator in ("@", "!") and value.text:
            # `${name@P}` and `${!name}` run the substitutions in the value.
            for _, _, inner in hidden_substitutions(value.text):
                self.run(parse(inner), "$")
        unknown = value.text is None and value.origin != "value" and part.name in self.scope.variables
        if unknown and part.operator == "@" and argument and argument.text == "P":
            self.run(parse(f'eval "${part.name}"'), "$")
        if part.operator == "!":
            return self.indirect(value)
        several = len(self.scope.arguments or ()) > 1
        if part.name in "@*" and (part.operator or (several and part.quoted and part.name == "@")):
            return Stream(None, value.taints)
        if not part.operator:
            return value.items[0] if value.items else value
        if part.operator == "@":
            return Stream(None, value.taints)
        if part.operator.startswith("["):
            return element(value, part, known=part.name in self.scope.variables)
        if part.operator in BY_DEFAULT:
            return self.by_default(part, value, other, known=known)
        if part.operator == "#" and part.argument is None:
            return Stream(None, frozenset(), "value")
        if value.text is not None and argument is not None and argument.text is not None:
            changed = transform(value.text, part.operator, argument.text)
            if changed is not None:
                return replace(value, text=changed)
        if part.operator in (":?", "?") and part.argument is not None:
            return value
        return Stream(None, value.taints, value.origin)

    def indirect(self, value: Stream) -> Stream:
        """Return the value of the variable that `value` names; it may be a secret if the name is not known."""
        if value.text is None or value.assumed:
            return Stream(None, value.taints | {TOKEN})
        return self.variable(value.text) if value.text.isidentifier() else Stream(None, value.taints)

    def by_default(self, part: Parameter, value: Stream, other: Stream, *, known: bool) -> Stream:
        """Expand `${name:-word}` and its like (`:=`, `:+`); without the colon, "" counts as a value."""
        unset = part.name not in self.scope.variables or value == UNSET
        empty = value.text == "" and (part.operator.startswith(":") or unset)
        if part.operator in (":+", "+"):
            if not known:
                return Stream(None, value.taints | other.taints)
            return NOTHING if empty else other
        if part.operator in (":=", "=") and part.argument and (empty or not known):
            self.assign(part.name, other, part.argument.span)
        if not known:
            return replace(merge_choice(value, other), assumed=other.text is not None)
        return other if empty else value

    def variable(self, name: str) -> Stream:
        """Return the value of a variable or a positional parameter."""
        scope = self.scope
        if name in scope.variables:
            return scope.variables[name]
        if name in ("HOME", "PWD", "OLDPWD"):
            return Stream("~" if name == "HOME" else scope.folder or ".")
        if name == "IFS":
            return Stream(" ")
        if name in "@*":
            given = scope.arguments
            return Stream("", assumed=True) if given is None else join_with_blanks(given)
        if name.isdecimal() and name != "0":
            given, at = scope.arguments, int(name) - 1
            if given is None:
                return ANYTHING
            return given[at] if at < len(given) else NOTHING
        if name in VALUES:
            return Stream(None, frozenset(), "value")
        return Stream(None, frozenset((TOKEN,)) if SECRET_NAME.search(name) else frozenset())
