"""What a comparison of two states speaks of: facts of code, and the units that they stand in."""

import re
from enum import StrEnum
from functools import lru_cache

from cli_guard.lazy import frozen

LONGEST_DETAIL = 300
# The detail of a condition whose body only logs, or is empty.
ONLY_SAYS = "only says"
# The words of `getHTMLText`, `is_safe_url?` and `X-Frame-Options` alike.
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
# How what stands before a handler, as a middleware or a decorator, hands a request on to it.
# https://expressjs.com/en/guide/using-middleware.html https://docs.djangoproject.com/en/stable/topics/http/middleware/
# https://laravel.com/docs/12.x/middleware https://jakarta.ee/specifications/servlet/6.1/ https://gin-gonic.com/en/docs/
CONTINUING = re.compile(
    r"(?:(?:return|await) )*(?:\$?next(?:\.(?:ServeHTTP|handle|run))?\(\s*(?:\)|\$?\w)|\w+\.(?:Next\(\)|doFilter\()"
    r"|(?:self\.)?get_response\(request\)|\w+\(\*args, ?\*\*kwargs\)|@app\.call\()"
)
# Names that are not called.
VALUES = re.compile(r"(?<![\w$])[A-Za-z_$][\w$]*(?![\w$(])")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class FactKind(StrEnum):
    """What a fact is; the words are those of `kinds` in rules/protections/*.toml."""

    CALL = "call"
    """`name` is called with the arguments `detail`."""
    ARGUMENT = "argument"
    """A bare name `name` that is handed to the call `detail`, as a middleware to a route, or a base to a "class"."""
    DECORATOR = "decorator"
    """A decorator, annotation or attribute `name` with the arguments `detail`."""
    GUARD = "guard"
    """A branch that only leaves: `name` is its condition, `detail` how it leaves."""
    CONDITION = "condition"
    """Any other condition, or a comparison that is returned: `name` is its text, `detail` `ONLY_SAYS` or empty."""
    OPTION = "option"
    """A key `name` with the value `detail`: an entry, a keyword argument, a setting, what a name is bound to."""
    DEFINITION = "definition"
    """A function or class `name`; `detail` is its heading."""
    TEXT = "text"
    """A constant text or pattern, in `name`."""
    ENTRY = "entry"
    """A text `detail` in the list `name`, which is bound to that name or handed to that call."""
    OUTPUT = "output"
    """What a template prints: `name` is the expression, `detail` "raw" or "escaped"."""
    HANDLER = "handler"
    """A handler of errors: `name` has the types, `detail` how it leaves or `ONLY_SAYS`, `operands` the calls around."""
    TYPE = "type"
    """What a parameter, field or variable `name` is declared as, in `detail`."""
    COMMENT = "comment"
    """A line of a comment, in `name`."""


JUDGED = (FactKind.GUARD, FactKind.CONDITION)
Key = tuple[FactKind, str, str]


@frozen
class CodeFact:
    """One thing that one side of a file says, with the lines and the unit where it does.

    `name` and `detail` have blanks folded and are cut to `LONGEST_DETAIL`; `unit` is the dotted name of the functions
    and classes around it, "" at the top of a file. The `operands` of a condition are joined by `joiner`, "and" or "or";
    one alone has no joiner; `asked` are its tokens.
    """

    kind: FactKind
    name: str
    detail: str = ""
    line: int = 0
    end_line: int = 0
    unit: str = ""
    operands: tuple[str, ...] = ()
    joiner: str = ""
    asked: tuple[str, ...] = ()

    @property
    def is_call(self) -> bool:
        return self.kind is FactKind.CALL

    @property
    def is_option(self) -> bool:
        return self.kind is FactKind.OPTION

    @property
    def is_guard(self) -> bool:
        return self.kind is FactKind.GUARD

    @property
    def is_judged(self) -> bool:
        """Return whether it asks something: a guard may become a plain condition."""
        return self.kind in JUDGED

    @property
    def last_name(self) -> str:
        """Return the last part of its name: `b` of `a.b`."""
        return short_name(self.name)

    @property
    def key(self) -> Key:
        """Return what makes two facts the same, wherever they stand."""
        return self.kind, self.name, self.detail

    @property
    def text(self) -> str:
        """Return the fact as a person would write it, for patterns to match: `name(detail)`, `name = detail`."""
        if self.kind is FactKind.ARGUMENT:
            return self.name
        if self.kind in (FactKind.CALL, FactKind.DECORATOR):
            return f"{self.name}({self.detail})"
        separator = SEPARATORS.get(self.kind, " ")
        return f"{self.name}{separator}{self.detail}" if self.detail else self.name


SEPARATORS = {FactKind.OPTION: " = ", FactKind.ENTRY: " holds ", FactKind.GUARD: ": "}


@frozen
class Looser:
    """A fact that became looser, and why.

    Its sort is `condition`, `comparison`, `asked` (of whom, or of how many), `bound`, `match`, `prefix`,
    `value`, `member`, `owner`, `type`, `listed` (an entry), `ended` (memory), `timing`, `output`, `query`, `filter` (it
    runs before fewer methods), `told` (an answer says what went wrong), `handler`, `unasked`, `order` or `exception`.
    """

    old: CodeFact
    new: CodeFact
    sort: str
    why: str


@frozen
class CodeUnit:
    """A function or class that a hunk touches on one side; `name` is dotted."""

    path: str
    name: str
    line: int
    end_line: int
    text: str

    @property
    def words(self) -> frozenset[str]:
        """Return the names and words in its text."""
        return words_of_text(self.text)


@lru_cache(maxsize=1_000)
def words_of_text(text: str) -> frozenset[str]:
    return frozenset(IDENTIFIER.findall(text))


def has_word(text: str, word: str) -> bool:
    """Return whether a text has a word that is no part of another one."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def short_name(name: str) -> str:
    return name.rpartition(".")[2]


def fold(text: str) -> str:
    """Return a text on one line, at most `LONGEST_DETAIL` characters of it."""
    return " ".join(text[: 4 * LONGEST_DETAIL].split())[:LONGEST_DETAIL]


@lru_cache(maxsize=20_000)
def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a name in any style, in lower case: `checkOwner`, `check_owner`, `Check-Owner`."""
    return tuple(word.lower() for word in WORD.findall(name))
