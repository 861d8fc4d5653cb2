"""Read a regular expression of a backtracking engine into a tree: Python, JavaScript, Ruby, C#, Java, Kotlin.

The dialects differ little, and one reader takes what any of them means. A set of characters is a number with one bit
for each character of an alphabet: ASCII, some beyond, and those that the pattern names.
"""

import re
from collections.abc import Callable

from cli_guard.lazy import dataclass, frozen

ASCII = "".join(map(chr, range(128)))
# A letter, an ideograph and a space stand for all others.
BEYOND = "\xe9\u65e5\xa0"
MOST_NAMED = 60
DEEPEST = 40
COUNTS = re.compile(r"\{(\d{0,4})(,?)(\d{0,4})\}")
SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
NAMED_GROUP = re.compile(r"\?P?[<'](\w+)[>']")
NAMED_AGAIN = re.compile(r"\?P=(\w+)\)")
NAMED_BACK = re.compile(r"k[<'{](\w+)[>'}]")
NUMBER = re.compile(r"[1-9]\d?")
FLAGS = re.compile(r"\?([A-Za-z]*)(?:-([a-z]+))?([:)])")
LOOKS = ("?=", "?!", "?<=", "?<!")
CONTROLS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "f": "\f",
    "v": "\v",
    "a": "\a",
    "e": "\x1b",
    "0": "\0",
}
POSIX = re.compile(r"\[:(\^?)(\w+):\]")
CODES = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|[xu]\{([0-9A-Fa-f]{1,6})\}")
PROPERTY = re.compile(r"[pP](?:\{(\^?)([^{}]{1,40})\}|([A-Z]))")
# Sets in these may hold sets in brackets.
NESTING = ("ruby", "java", "kotlin")
ASSERTIONS = {
    "b": "word",
    "B": "inside",
    "A": "start",
    "z": "end",
    "Z": "last",
    "G": "start",
}


@frozen
class Chars:
    """One character of a set; 0: none that is looked at."""

    mask: int


@frozen
class NodeSequence:
    parts: "tuple[Node, ...]"


@frozen
class Choice:
    """Alternatives in the order in which they are tried."""

    parts: "tuple[Node, ...]"


@frozen
class Repeat:
    """A repetition; `most` is None without a limit."""

    part: "Node"
    least: int
    most: int | None
    lazy: bool


@frozen
class CaptureGroup:
    number: int
    part: "Node"


@frozen
class Atomic:
    """What gives nothing back once it has matched."""

    part: "Node"


@frozen
class Look:
    """What has to match, or must not, beginning (or, if `behind`, ending) at a place."""

    part: "Node"
    behind: bool
    negated: bool


@frozen
class At:
    """A condition on a place: start, end, last (before a final line end), line start, line end, word, inside."""

    where: str


@frozen
class Back:
    """The text of a group again."""

    number: int


Node = Chars | NodeSequence | Choice | Repeat | CaptureGroup | Atomic | Look | At | Back


class UnreadableError(ValueError):
    """A pattern that this reader does not understand, or that is too large for it."""


class Alphabet:
    """The characters that a pattern tells apart, and sets of them."""

    def __init__(self, pattern: str) -> None:
        named = sorted({each for each in pattern if each > "\x7f"} - set(BEYOND))
        self.chars = ASCII + BEYOND + "".join(named[:MOST_NAMED])
        self.bit = {each: 1 << index for index, each in enumerate(self.chars)}
        self.all = (1 << len(self.chars)) - 1
        self.digits = self.those(str.isdigit)
        self.word = self.those(lambda each: each.isalnum() or each == "_")
        self.space = self.those(str.isspace)

    def those(self, is_in: Callable[[str], bool]) -> int:
        return sum(self.bit[each] for each in self.chars if is_in(each))

    def between(self, first: str, last: str) -> int:
        return self.those(lambda each: first <= each <= last)

    def in_either_case(self, mask: int) -> int:
        held = [each for each in self.chars if mask & self.bit[each]]
        both = {form for each in held for form in (each, each.lower(), each.upper())}
        return sum(self.bit[each] for each in both if each in self.bit)

    def named(self, name: str) -> int:
        """Return a set by a name that POSIX or Unicode gives it. Raises UnreadableError for one not known."""
        name = name.lower().removeprefix("is").removeprefix("posix_")
        if name not in NAMED:
            raise UnreadableError(f"set {name}")
        return self.those(NAMED[name])


NAMED: dict[str, Callable[[str], bool]] = {
    "alpha": str.isalpha,
    "alphabetic": str.isalpha,
    "l": str.isalpha,
    "letter": str.isalpha,
    "lu": str.isupper,
    "upper": str.isupper,
    "ll": str.islower,
    "lower": str.islower,
    "n": str.isdigit,
    "nd": str.isdigit,
    "digit": str.isdigit,
    "alnum": str.isalnum,
    "word": lambda each: each.isalnum() or each == "_",
    "space": str.isspace,
    "blank": lambda each: each in " \t",
    "punct": lambda each: each.isprintable() and not each.isalnum() and each != " ",
    "p": lambda each: each.isprintable() and not each.isalnum() and each != " ",
    "xdigit": lambda each: each in "0123456789abcdefABCDEF",
    "ascii": str.isascii,
    "cntrl": lambda each: not each.isprintable(),
    "print": str.isprintable,
    "graph": lambda each: each.isprintable() and each != " ",
}


@dataclass(slots=True)
class Modes:
    """The flags in force: i, m (lines), s (a dot is any character), x (spaces and comments are none)."""

    on: frozenset[str]
    language: str

    def with_flags(self, on: str, off: str) -> "Modes":
        known = {"m": "s"} if self.language == "ruby" else {}
        added = {known.get(each, each) for each in on}
        taken = {known.get(each, each) for each in off}
        return Modes((self.on | added) - taken, self.language)


def read_pattern(
    pattern: str, flags: str, language: str, alphabet: Alphabet | None = None
) -> tuple[Node, Alphabet]:
    """Return the tree of a pattern with the flags i, m, s and x as letters; over its own alphabet, or one it shares.

    Raises UnreadableError.
    """
    alphabet = alphabet or Alphabet(pattern)
    # In Ruby ^ and $ are always those of a line.
    modes = Modes(frozenset("m" if language == "ruby" else ""), language)
    reader = _Reader(pattern, alphabet)
    node = reader.read_choice(modes.with_flags(flags, ""), 0)
    if reader.at < len(pattern):
        raise UnreadableError("a bracket that nothing opens")
    return node, alphabet


class _Reader:
    """A recursive descent over the text of a pattern."""

    def __init__(self, text: str, alphabet: Alphabet) -> None:
        self.text = text
        self.at = 0
        self.alphabet = alphabet
        self.groups = 0
        self.names: dict[str, int] = {}

    def _takes(self, literal: str) -> bool:
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise UnreadableError("ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def _chars(self, mask: int, modes: Modes) -> Chars:
        return Chars(self.alphabet.in_either_case(mask) if "i" in modes.on else mask)

    def read_choice(self, modes: Modes, depth: int) -> Node:
        if depth > DEEPEST:
            raise UnreadableError("nests too deep")
        parts = [self._read_sequence(modes, depth)]
        while self._takes("|"):
            parts.append(self._read_sequence(modes, depth))
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _read_sequence(self, modes: Modes, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            if "x" in modes.on and self._skips_space():
                continue
            part, modes = self._read_part(modes, depth)
            if part is not None:
                parts.append(self._read_repeats(part))
        return NodeSequence(tuple(parts))

    def _read_part(self, modes: Modes, depth: int) -> tuple[Node | None, Modes]:
        """Return what stands next, None for a comment or for flags, and the modes of what follows."""
        if self._takes("(?#"):
            self._skip_past(")")
            return None, modes
        if not self._takes("("):
            return self._read_atom(modes), modes
        if flags := self._match(FLAGS):
            inner = modes.with_flags(flags[1], flags[2] or "")
            if flags[3] == ")":
                return None, inner
            return self._read_inside(inner, depth), modes
        return self._read_group(modes, depth), modes

    def _read_inside(self, modes: Modes, depth: int) -> Node:
        node = self.read_choice(modes, depth + 1)
        if self._next() != ")":
            raise UnreadableError("a group without an end")
        return node

    def _read_group(self, modes: Modes, depth: int) -> Node:
        if again := self._match(NAMED_AGAIN):
            return self._named_back(again[1])
        name = self._match(NAMED_GROUP)
        if name or not self.text.startswith(("?", "*"), self.at):
            self.groups += 1
            number = self.groups
            if name:
                self.names[name[1]] = number
            return CaptureGroup(number, self._read_inside(modes, depth))
        if self._takes("?>"):
            return Atomic(self._read_inside(modes, depth))
        for sign in LOOKS:
            if self._takes(sign):
                part = self._read_inside(modes, depth)
                return Look(part, behind="<" in sign, negated="!" in sign)
        raise UnreadableError("a group of another kind")

    def _skips_space(self) -> bool:
        if self.text[self.at].isspace():
            self.at += 1
            return True
        if self.text[self.at] == "#":
            self._skip_past("\n")
            return True
        return False

    def _skip_past(self, literal: str) -> None:
        end = self.text.find(literal, self.at)
        self.at = end + len(literal) if end >= 0 else len(self.text)

    def _read_repeats(self, part: Node) -> Node:
        while counts := self._read_counts():
            least, most = counts
            if most is not None and most < least:
                raise UnreadableError("a count that is out of order")
            lazy = self._takes("?")
            part = Repeat(part, least, most, lazy)
            if not lazy and self._takes("+"):
                part = Atomic(part)
        return part

    def _read_counts(self) -> tuple[int, int | None] | None:
        for sign, counts in SIGNS.items():
            if self._takes(sign):
                return counts
        found = COUNTS.match(self.text, self.at)
        if found is None or not (found[1] or found[3]):
            return None
        self.at = found.end()
        least = int(found[1] or 0)
        if not found[2]:
            return least, least
        return least, int(found[3]) if found[3] else None

    def _read_atom(self, modes: Modes) -> Node:
        char = self._next()
        if char == "[":
            return self._chars(self._read_set(modes), modes)
        if char == "\\":
            return self._read_escape(modes)
        if char == ".":
            line_end = 0 if "s" in modes.on else self.alphabet.bit["\n"]
            return Chars(self.alphabet.all & ~line_end)
        if char == "^":
            return At("line start" if "m" in modes.on else "start")
        if char == "$":
            return At("line end" if "m" in modes.on else "last")
        if char in "*+?":
            raise UnreadableError("nothing to repeat")
        return self._chars(self.alphabet.bit.get(char, 0), modes)

    def _named_back(self, name: str) -> Node:
        if name not in self.names:
            raise UnreadableError(f"no group {name}")
        return Back(self.names[name])

    def _read_escape(self, modes: Modes) -> Node:
        if named := self._match(NAMED_BACK):
            return self._named_back(named[1])
        if number := self._match(NUMBER):
            return Back(int(number[0]))
        char = self.text[self.at : self.at + 1]
        if char in ASSERTIONS:
            self.at += 1
            return At(ASSERTIONS[char])
        return self._chars(self._mask(self._read_escaped(modes)), modes)

    def _mask(self, value: int | str) -> int:
        return self.alphabet.bit.get(value, 0) if isinstance(value, str) else value

    def _read_escaped(self, modes: Modes) -> int | str:
        """Return the character, or the set, that what follows a backslash stands for, in brackets and outside."""
        alphabet = self.alphabet
        if code := self._match(CODES):
            value = int(code[1] or code[2] or code[3], 16)
            return chr(min(value, 0x10FFFF))
        if found := self._match(PROPERTY):
            mask = alphabet.named(found[2] or found[3])
            is_other = (found[0][0] == "P") != bool(found[1])
            return alphabet.all & ~mask if is_other else mask
        char = self._next()
        sets = {"d": alphabet.digits, "w": alphabet.word, "s": alphabet.space}
        sets["h"] = alphabet.named("xdigit" if modes.language == "ruby" else "blank")
        if char.lower() in sets:
            mask = sets[char.lower()]
            return mask if char.islower() else alphabet.all & ~mask
        if char in CONTROLS:
            return CONTROLS[char]
        if char.isalnum() and modes.language != "javascript":
            raise UnreadableError(f"the escape of {char}")
        return char

    def _read_set(self, modes: Modes, depth: int = 0) -> int:
        """Read a set to its closing bracket."""
        is_other = self._takes("^")
        mask = 0
        is_first = modes.language != "javascript"
        while is_first or not self._takes("]"):
            if depth > DEEPEST:
                raise UnreadableError("sets nest too deep")
            if self._takes("&&"):
                raise UnreadableError("an intersection of sets")
            mask |= self._read_member(modes, depth)
            is_first = False
        return self.alphabet.all & ~mask if is_other else mask

    def _read_member(self, modes: Modes, depth: int) -> int:
        if named := self._match(POSIX):
            mask = self.alphabet.named(named[2])
            return self.alphabet.all & ~mask if named[1] else mask
        if modes.language in NESTING and self._takes("["):
            return self._read_set(modes, depth + 1)
        first = self._read_one(modes)
        rest = self.text[self.at : self.at + 2]
        if not isinstance(first, str) or not rest.startswith("-") or rest == "-]":
            return self._mask(first)
        self.at += 1
        last = self._read_one(modes)
        if isinstance(last, str):
            return self.alphabet.between(first, last)
        return self._mask(first) | last | self.alphabet.bit["-"]

    def _read_one(self, modes: Modes) -> int | str:
        char = self._next()
        if char != "\\":
            return char
        return "\b" if self._takes("b") else self._read_escaped(modes)
