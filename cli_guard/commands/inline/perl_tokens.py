"""The words of a Perl program, as far as they can be told apart without running it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SPACE = re.compile(r"(?:\s|#[^\n]*)*")
VARIABLE = re.compile(
    r"\$\#?(?:\$(?=\w))?(?:(?:::)?[A-Za-z_]\w*(?:::\w+)*|\d+|\{\^?\w+\}|\^[A-Z]|[&`'+!@/\\,;.\"|<>\[\]0?:-])|"
    r"[@%](?:\$(?=\w))?(?:(?:::)?[A-Za-z_]\w*(?:::\w+)*|[+!-](?=\W))"
)
SIGIL = re.compile(r"\$\#?(?=[${])|[@%](?=[${])")
NAME = re.compile(r"[A-Za-z_]\w*(?:::(?=[A-Za-z_])\w+)*(?:::)?")
NUMBER = re.compile(r"0[xXbB][\da-fA-F_]+|(?:\d[\d_]*(?:\.(?!\.)[\d_]*)?|\.\d+)(?:[eE][-+]?\d+)?")
QUOTE = re.compile(r"(?:q[qwxr]?|m|s|tr|y)(?!\w)(?!\s*=>)(?!\s*[,;)])")
FILE_TEST = re.compile(r"-[A-Za-z](?!\w)(?!\s*=>)")
HANDLE = re.compile(r"<(?:<>>|\$?\w*>)")
MARK = re.compile(
    r"<=>|\*\*=?|\.\.\.?|->|=>|\+\+|--|&&=?|\|\|=?|//=?|[<>]{2}=?|==|!=|=~|!~|<=|>=|[-+*/.%x|&^]=(?![=~])|"
    r"[-+*/.%|&^~!=<>?:,;(){}\[\]\\]"
)
CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
FLAGS = re.compile(r"[a-z]*")
# Names behind which a value is expected, so that "/" begins a regular expression and "<" a handle.
OPENING = frozenset(
    """if unless while until and or not xor return print printf say push unshift split grep map join x lt gt le ge eq
    ne cmp foreach for elsif defined lc uc ucfirst lcfirst length ref scalar die warn chomp chop keys values each
    exists delete sort reverse sprintf when""".split()
)


class NotPerl(Exception):
    """The text is no program that this reader understands."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word: its kind, its text, and of a quote its first part, its second and its flags."""

    kind: str
    text: str
    first: str = ""
    second: str = ""
    flags: str = ""


END = Token("mark", ";")


def tokens_of(code: str) -> Iterator[Token]:
    """The words of a program. Raises NotPerl."""
    at, last = 0, END
    braces: list[bool] = []
    value_next = True
    while True:
        space = SPACE.match(code, at)
        at = space.end() if space else at
        if at >= len(code):
            return
        if code[at] == "=" and value_next and (at == 0 or code[at - 1] == "\n"):
            raise NotPerl("documentation")
        last, at = one(code, at, last, value_next=value_next)
        if last.text == "{" and last.kind == "mark":
            braces.append(not value_next or last.flags == "subscript")
        if last.kind == "mark" and last.text == "}":
            value_next = not (braces.pop() if braces else False)
        elif last.kind == "mark":
            value_next = last.text not in (")", "]", "++", "--")
        else:
            value_next = last.kind in ("sigil", "test") or (last.kind == "name" and last.text in OPENING)
        yield last


def one(code: str, at: int, last: Token, *, value_next: bool) -> tuple[Token, int]:
    """The word at a place, and the place behind it."""
    character = code[at]
    if character in "\"'`":
        body, end = delimited(code, at)
        return Token("quote", {"'": "q", '"': "qq", "`": "qx"}[character], body), end
    if character in "$@" or (character == "%" and value_next):
        for kind, pattern in (("variable", VARIABLE), ("sigil", SIGIL)):
            if found := pattern.match(code, at):
                return Token(kind, found[0]), found.end()
        raise NotPerl(f"not understood at character {at}")
    in_braces = last.kind == "mark" and last.text == "{"
    if character.isalpha() or character == "_":
        quote = QUOTE.match(code, at)
        key = in_braces and quote and code[quote.end() : quote.end() + 1] == "}"
        if quote and not key and last.text != "->" and not (last.kind == "name" and last.text == "sub"):
            return quoted(code, at, quote)
        found = NAME.match(code, at)
        if found:
            return Token("name", found[0]), found.end()
    if (found := NUMBER.match(code, at)) is not None:
        return Token("number", found[0]), found.end()
    if value_next:
        if character == "-" and (found := FILE_TEST.match(code, at)):
            return Token("test", found[0]), found.end()
        if character == "/":
            body, end = delimited(code, at)
            flags = FLAGS.match(code, end)
            return Token("quote", "m", body, flags=flags[0] if flags else ""), end + len(
                flags[0] if flags else ""
            )
        if character == "<":
            if found := HANDLE.match(code, at):
                return Token("handle", found[0]), found.end()
            raise NotPerl("a here-document or a pattern of files")
        if character in "&*":
            raise NotPerl("a function or a symbol by reference")
    elif character in "/<?" and last.kind == "name" and last.text.islower():
        raise NotPerl("a division or a regular expression")
    found = MARK.match(code, at)
    if not found:
        raise NotPerl(f"not understood at character {at}")
    subscript = (
        found[0] == "{" and (last.kind == "variable" or last.text in ("->", "]", "}")) and not value_next
    )
    return Token("mark", found[0], flags="subscript" if subscript or last.text == "->" else ""), found.end()


def quoted(code: str, at: int, quote: re.Match[str]) -> tuple[Token, int]:
    """A quote that begins with a word: `qw(a b)`, `s/a/b/g`."""
    start = quote.end()
    if code[start : start + 1] != "#":
        space = re.compile(r"\s*").match(code, start)
        start = space.end() if space else start
        if start > quote.end() and code[start : start + 1] in ("#", "="):
            raise NotPerl("a quote or a name")
    if start >= len(code) or code[start].isspace() or code[start].isalnum():
        raise NotPerl("a quote without its delimiter")
    first, end = delimited(code, start)
    second = ""
    if quote[0] in ("s", "tr", "y"):
        if code[start] in CLOSERS:
            space = SPACE.match(code, end)
            end = space.end() if space else end
            second, end = delimited(code, end)
        else:
            second, end = delimited(code, end - 1)
    flags = FLAGS.match(code, end) if quote[0] in ("m", "s", "tr", "y", "qr") else None
    given = flags[0] if flags else ""
    return Token("quote", quote[0], first, second, given), end + len(given)


def delimited(code: str, at: int) -> tuple[str, int]:
    """The text between the delimiter at a place and its partner, and the place behind that."""
    if at >= len(code):
        raise NotPerl("a quote is not closed")
    opener = code[at]
    closer = CLOSERS.get(opener, opener)
    depth, place = 1, at + 1
    while place < len(code):
        character = code[place]
        if character == "\\":
            place += 1
        elif character == closer:
            depth -= 1
            if not depth:
                return code[at + 1 : place], place + 1
        elif character == opener:
            depth += 1
        place += 1
    raise NotPerl("a quote is not closed")
