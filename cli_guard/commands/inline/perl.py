"""What a Perl program does: its harmless functions are listed, and whatever else it calls is an act."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.grammar import unescaped
from cli_guard.commands.inline.model import Act, shell, unknown, unseen_command
from cli_guard.commands.inline.names import environment, file, variable
from cli_guard.commands.inline.perl_names import EFFECTS, HARMLESS, METHODS, MODULES, ODD
from cli_guard.commands.inline.perl_tokens import END, NotPerl, Token, tokens_of
from cli_guard.commands.model import Kind

DEPTH = 3
ESCAPED = re.compile(r"\\(?:x\{?[0-9a-fA-F]{1,6}\}?|[0-7]{1,3}|.)", re.DOTALL)
INTERPOLATED = re.compile(r"(?<!\\)(?:\\\\)*[$@][\w{$:]")
CODE_IN_TEXT = re.compile(r"[$@]\$*\{(?!\^?\w+\})")
SUBSCRIPT = re.compile(r"[$@]\$*\w+(?:->)?[\[{]([^\]}]{0,80})[\]}]?")
SIMPLE = re.compile(r"[\w$'\"^\-. \\,+]*\Z")
CODE_IN_REGEX = re.compile(r"\(\?\??\{")
HANDLES = re.compile(r"[A-Z][A-Z0-9_]*\Z")
ASSIGNING = frozenset(("=", "=~", ".=", "x=", "||=", "//=", "&&="))
CHANGING = frozenset(("push", "unshift", "splice", "\\", "}", "local", "map", "grep", "=~"))
STOPS = frozenset(
    ("or", "and", "if", "unless", "for", "foreach", "while", "until", "||", "&&", "?", ":", "//")
)
SIMPLE_QUOTES = frozenset(("q", "qq"))


def acts(code: str, depth: int = 0) -> Iterator[Act]:
    """What the program does, in its order."""
    try:
        tokens = list(tokens_of(code))
    except NotPerl as error:
        yield unknown(f"Perl: {error}")
        return
    yield from Program(tokens, depth).acts()


class Program:
    """The words of a program, with what its variables are set to."""

    def __init__(self, tokens: list[Token], depth: int) -> None:
        self.tokens = tokens
        self.depth = depth
        self.values: dict[str, list[str]] = {}
        self.defined = {
            self.at(i + 1).text for i, t in enumerate(tokens) if (t.kind, t.text) == ("name", "sub")
        }
        for i, token in enumerate(tokens):
            known = self.values.setdefault(token.text, []) if token.kind == "variable" else []
            if token.kind == "variable" and self.at(i + 1).text == "=" and len(known) < 8:
                text = self.literal([self.at(i + 2)])
                known.extend(
                    [text] if text is not None and self.at(i + 3).text in (";", "}", ")", ",") else []
                )

    def at(self, index: int) -> Token:
        """The word at a place, the end of a statement beyond the program."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else END

    def acts(self) -> Iterator[Act]:
        """Every act of the program."""
        for index, token in enumerate(self.tokens):
            if token.kind == "quote":
                yield from self.quote(token)
            elif token.kind == "variable":
                yield from self.variable(index, token.text)
            elif token.kind == "name":
                yield from self.name(index, token.text)
            elif token.kind == "sigil" and self.at(index + 2).kind in ("name", "quote"):
                yield unknown("Perl: a variable by its name")
            elif (
                token.text == "->"
                and self.at(index + 1).kind == "variable"
                and self.at(index + 1).text != "$#"
            ):
                yield unknown("Perl: a method by a name made while it runs")

    def quote(self, token: Token) -> Iterator[Act]:
        """A string, a regular expression or a command between backticks."""
        if token.text == "qx":
            text = self.literal([Token("quote", "qq", token.first)])
            yield shell(text) if text is not None else unseen_command()
        if token.text in ("m", "s", "qr") and CODE_IN_REGEX.search(token.first):
            yield unknown("Perl: code in a regular expression")
        interpolated = token.first if token.text in ("qq", "qx", "m", "s", "qr") else ""
        if token.text == "s" and "e" in token.flags:
            yield from self.inner(token.second)
            if token.flags.count("e") > 1:
                yield Act(Kind.EXEC, None, "runs what a replacement gives as code")
        elif token.text == "s":
            interpolated += f" {token.second}"
        if CODE_IN_TEXT.search(interpolated) or any(
            not SIMPLE.match(found)
            for found in SUBSCRIPT.findall(interpolated)
            if token.text in ("qq", "qx") or "(" in found
        ):
            yield unknown("Perl: code in a string")
        for name in re.findall(r"\$ENV\{['\"]?(\w+)", interpolated):
            yield from variable(name)

    def inner(self, code: str) -> Iterator[Act]:
        """Code inside of the code."""
        if self.depth >= DEPTH:
            yield unknown("Perl: code in code in code")
        else:
            yield from acts(code, self.depth + 1)

    def literal(self, tokens: list[Token]) -> str | None:
        """The text that words stand for, strings joined by dots; None: it is not in the text."""
        texts = []
        for place, token in enumerate(tokens):
            if place % 2:
                if token.text != ".":
                    return None
            elif token.kind != "quote" or token.text not in SIMPLE_QUOTES:
                return None
            elif token.text == "q":
                texts.append(token.first.replace("\\'", "'").replace("\\\\", "\\"))
            elif INTERPOLATED.search(token.first):
                return None
            else:
                texts.append(ESCAPED.sub(lambda found: unescaped(found[0]), token.first))
        return "".join(texts) if texts else None

    def alternatives(self, tokens: list[Token]) -> list[str | None]:
        """What an argument may be."""
        if len(tokens) == 1 and tokens[0].kind == "variable":
            return [*self.values.get(tokens[0].text, ()), None]
        return [self.literal(tokens)]

    def arguments(self, index: int) -> list[list[Token]]:
        """The words of each argument of the function at a place."""
        enclosed = self.at(index + 1).text == "("
        place, depth = index + (2 if enclosed else 1), 0
        found: list[list[Token]] = [[]]
        while place < len(self.tokens) and len(found) < 60 and len(found[-1]) < 60:
            token = self.tokens[place]
            mark = token.text if token.kind == "mark" else ""
            if not depth and (
                mark in (")", "}", "]", ";") or (token.kind in ("name", "mark") and token.text in STOPS)
            ):
                break
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(mark, 0)
            if not depth and mark in (",", "=>"):
                found.append([])
            elif token.kind == "quote" and token.text == "qw":
                found[-1:] = [[Token("quote", "q", word)] for word in token.first.split()] or [[]]
            else:
                found[-1].append(token)
            place += 1
        return [each for each in found if each]

    def variable(self, index: int, name: str) -> Iterator[Act]:
        """A variable of the interpreter's own."""
        following = self.at(index + 1).text
        if name == "$ENV" and following == "{":
            key = self.at(index + 2)
            text = key.text if key.kind == "name" else self.literal([key])
            yield from variable(text)
            if self.at(index + 4).text in ("=", ".=", "||=", "//="):
                yield unknown("Perl: changes the environment")
        elif name in ("%ENV", "@ENV"):
            yield environment()
        elif name in ("$^I", "$INPLACE_EDIT"):
            yield Act(Kind.WRITE, None, "edits its files in place")
        elif name in ("@ARGV", "@INC", "%INC") and (following == "=" or self.changed(index)):
            yield unknown(f"Perl: changes {name}")
        elif name == "$ARGV" and any(self.at(index + i).text in ASSIGNING for i in range(1, 7)):
            yield unknown("Perl: changes @ARGV")

    def changed(self, index: int) -> bool:
        """Can what stands before a list change its elements?"""
        before = [self.at(index - i).text for i in (1, 2, 3, 4)]
        return before[0] in CHANGING or before[1] in CHANGING or "for" in before or "foreach" in before

    def name(self, index: int, name: str) -> Iterator[Act]:
        """A function, a module, a label or a bare word."""
        before, behind = self.at(index - 1), self.at(index + 1)
        own = name.removeprefix("CORE::GLOBAL::").removeprefix("CORE::")
        if behind.text == "=>" or (before.text == "{" and behind.text == "}" and before.flags == "subscript"):
            return
        if before.text == "->":
            if own not in METHODS and own not in self.defined:
                yield unknown(f"Perl: calls the method {own[:40]}")
        elif before.text in ("sub", "package") and before.kind == "name":
            return
        elif own in ("use", "no", "require"):
            yield from self.loaded(index)
        elif before.kind == "name" and before.text in ("use", "no", "require"):
            return
        elif own in EFFECTS:
            yield from self.effect(index, own)
        elif own in ("system", "exec"):
            yield from self.process(index)
        elif own == "open":
            yield from self.opened(self.arguments(index))
        elif own in ("eval", "do"):
            yield from self.evaluated(index, own)
        elif own in ODD:
            yield unknown(f"Perl: {own}")
        elif not (own in HARMLESS or own in self.defined or HANDLES.match(own) or in_module(own)):
            yield unknown(f"Perl: calls {own[:60]}")

    def loaded(self, index: int) -> Iterator[Act]:
        """`use strict`, `require "x.pl"`."""
        what = self.at(index + 1)
        if what.kind == "name" and what.text not in MODULES and not re.match(r"v\d", what.text):
            yield Act(Kind.EXEC, what.text, f"loads {what.text[:60]}, whose code runs")
        elif what.kind not in ("name", "number"):
            yield Act(Kind.EXEC, self.literal([what]), "runs another file")

    def effect(self, index: int, name: str) -> Iterator[Act]:
        """A function that does one thing to each of its arguments from a place on."""
        kind, first = EFFECTS[name]
        arguments = self.arguments(index)[first:]
        for argument in arguments or [[]]:
            for text in self.alternatives(argument) if argument else [None]:
                yield from file(kind, text, name)
        if name in ("rename", "move"):
            yield Act(Kind.DELETE, self.alternatives(arguments[0])[0] if arguments else None, "is moved away")

    def process(self, index: int) -> Iterator[Act]:
        """`system "a b"` is for a shell, `system "a", "b"` is not."""
        arguments = self.arguments(index)
        if len(arguments) == 1:
            for text in self.alternatives(arguments[0]):
                yield shell(text) if text is not None else unseen_command()
            return
        words = [self.literal(argument) for argument in arguments]
        known = tuple(word for word in words if word is not None)
        if known and len(known) == len(words):
            yield Act(Kind.EXEC, known[0], "runs a command", words=known)
        else:
            yield unseen_command()

    def opened(self, arguments: list[list[Token]]) -> Iterator[Act]:
        """`open(F, ">x")`, `open(my $f, "<", "x")`, `open(F, "-|", "ls", "-l")`."""
        mode = self.literal(arguments[1]) if len(arguments) > 1 else None
        if mode is None:
            yield unknown("Perl: opens what the text does not tell, maybe a command")
        elif len(arguments) == 2:
            path = mode.strip()
            if path.startswith("|") or path.endswith("|"):
                yield shell(path.strip("| "))
            else:
                reads = not path.startswith((">", "+"))
                yield from file(Kind.READ if reads else Kind.WRITE, path.lstrip("+<>& ").strip())
        elif "|" in mode:
            words = [self.literal(argument) for argument in arguments[2:]]
            known = tuple(word for word in words if word is not None)
            if len(known) < len(words):
                yield unseen_command()
            else:
                yield (
                    shell(known[0])
                    if len(known) == 1
                    else Act(Kind.EXEC, known[0], "runs a command", words=known)
                )
        else:
            for text in self.alternatives(arguments[2]):
                yield from file(Kind.READ if mode.strip().startswith("<") else Kind.WRITE, text)

    def evaluated(self, index: int, name: str) -> Iterator[Act]:
        """`eval {...}` and `do {...}` are blocks; text is code, for `do` that of a file."""
        if self.at(index + 1).text == "{":
            return
        argument = self.arguments(index)[:1]
        for text in self.alternatives(argument[0]) if argument else [None]:
            if name == "eval" and text is not None:
                yield from self.inner(text)
            else:
                yield Act(
                    Kind.EXEC,
                    text,
                    "runs another file" if name == "do" else "runs code that the text does not tell",
                )


def in_module(name: str) -> bool:
    """Is this a harmless module, or a function of one?"""
    module, _, function = name.rpartition("::")
    return name in MODULES or (module in MODULES and (module != "POSIX" or function in HARMLESS))
