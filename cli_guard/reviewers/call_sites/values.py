"""Values of a file that are compared before and after a change, whatever their layout, comments and order of keys."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, is_dataclass

from cli_guard.commands.model import Span
from cli_guard.commands.parse.syntax import parse
from cli_guard.lazy import dataclass, frozen
from cli_guard.reviewers.commands.extract.nodes import Items, Node, Scalar, Table, every
from cli_guard.reviewers.dependencies.versions import Parts, parts_of

MENTION = re.compile(r"\bcli[-_]guard\b(?!\.toml|-baseline)")
# A review, not only an installation; what reviews may also be in a variable, or in a file that is called.
RUN = re.compile(
    r"\bcli[-_]guard(?:\.exe)?[\"']?(?:\s+-\S+){0,9}\s+(?:verify|review|hook)\b"
)
# What no program acts on, and time limits: a call that runs out of time fails.
COSMETIC = frozenset(("name", "run-name", "description", "verbose", "timeout-minutes"))
NUMBERS = r"\d{1,9}(?:\.\d{1,9}){0,9}"
VERSION = re.compile(rf"v?({NUMBERS})")
# `owner/action@v2` as the whole value, and `cli-guard==1.2`, `cli-guard@v1.2` or `cli-guard:1.2` anywhere.
PINNED = re.compile(
    r"(\A[\w./-]+@v?(?=[\d.]+\Z)|\bcli[-_]guard(?:\[[\w,-]*\])?(?:\.git)?(?:==|@|:)v?)"
    rf"({NUMBERS})(?![\w.+-])"
)
# The keys that fix a repository to a version, and the key beside them that names the repository.
PINS = {"rev": "repo", "ref": "project"}
EXPRESSION = re.compile(r"\$\{\{.{0,2000}?\}\}", re.DOTALL)
# A file that refers to itself again and again is bounded by the number of values that are read.
MOST_VALUES = 1_000_000
LONGEST_SCRIPT = 40_000


class TooMuchError(ValueError):
    """The values of a file refer to each other too often to be compared."""


@frozen
class Value:
    """A part of a file: a hash without its versions, those versions in order, and its first line."""

    digest: str
    versions: tuple[Parts, ...] = ()
    line: int | None = None

    def allows(self, after: "Value") -> bool:
        """Return whether another value is the same, or differs only by versions that are raised."""
        if self.digest != after.digest or len(self.versions) != len(after.versions):
            return False
        return all(
            old <= new for old, new in zip(self.versions, after.versions, strict=True)
        )


# What decides how one call runs, or all of a file: key -> value.
Surroundings = dict[str, Value]
# The calls of a file by the words that name each of them.
Sites = dict[str, Surroundings]


@dataclass
class Values:
    """Hashes the values of one file, and finds those that call the guard.

    `calls` says whether a text calls it. `is_shell`: the texts of several lines are for a POSIX shell.
    """

    calls: Callable[[str], bool]
    is_shell: bool = True
    left: int = MOST_VALUES
    _calling: dict[int, bool] = field(default_factory=dict)

    def is_calling(self, node: Node | None) -> bool:
        """Return whether a text or a key below a node calls the guard."""
        if node is None:
            return False
        known = self._calling.get(id(node))
        if known is None:
            known = self._calling[id(node)] = any(map(self._calls_itself, every((node,))))
        return known

    def is_running(self, text: str) -> bool:
        """Return whether a text runs a review, itself or by a file of the repository."""
        return RUN.search(text) is not None or (
            self.calls(text) and not MENTION.search(text)
        )

    def _calls_itself(self, node: Node) -> bool:
        self.count()
        if isinstance(node, Scalar):
            return self.calls(node.text)
        return isinstance(node, Table) and any(MENTION.search(key) for key, _ in node.pairs)

    def of(self, node: Node | None, *, is_version: bool = False) -> Value:
        """Return the value of a node; a table is the same in any order of its keys."""
        found: list[str] = []
        versions: list[Parts] = []
        numbers: dict[int, int] = {}
        waiting: list[tuple[Node | str | None, bool]] = [(node, is_version)]
        line = None
        while waiting:
            each, is_pin = waiting.pop()
            self.count()
            if each is None or isinstance(each, str):
                found.append(f"key {each!r}")
            elif id(each) in numbers:
                found.append(f"again {numbers[id(each)]}")
            elif isinstance(each, Scalar):
                line = line or each.line
                found.append(f"{each.tag} {self._text(each.text, versions, is_pin)!r}")
            else:
                numbers[id(each)] = len(numbers)
                found.append(
                    f"{each.tag} {type(each).__name__} {len(each.nodes if isinstance(each, Items) else each.pairs)}"
                )
                waiting += reversed([*self._children(each)])
        return Value(_hash(found), tuple(versions), line)

    def _children(self, node: Items | Table) -> Iterable[tuple[Node | str, bool]]:
        if isinstance(node, Items):
            yield from ((each, False) for each in node.nodes)
            return
        keys = {key for key, _ in node.pairs}
        for key, value in sorted(node.pairs, key=lambda pair: pair[0]):
            yield key, False
            yield value, PINS.get(key) in keys

    def _text(self, text: str, versions: list[Parts], is_pin: bool) -> object:
        if is_pin and (found := VERSION.fullmatch(text)):
            versions.append(parts_of(found[1]))
            return "version"

        def mask(found: re.Match[str]) -> str:
            versions.append(parts_of(found[2]))
            return f"{found[1]}*"

        text = PINNED.sub(mask, text)
        return shell_shape(text) if self.is_shell and "\n" in text.strip() else text.strip()

    def table(
        self,
        table: Node | None,
        *,
        without: Iterable[str] = (),
        cosmetic: Iterable[str] = COSMETIC,
    ) -> Surroundings:
        """Return the values of a table by its keys, merged ones too, without cosmetic keys."""
        if not isinstance(table, Table):
            return {"": self.of(table)}
        left_out = {*without, *cosmetic}
        entries = entries_of(table)
        return {
            key: self.of(node, is_version=PINS.get(key) in entries)
            for key, node in entries.items()
            if key not in left_out
        }

    def text(self, text: str, line: int | None = None) -> Value:
        """Return the value of a text as it stands."""
        versions: list[Parts] = []
        return Value(
            _hash([repr(self._text(text, versions, False))]), tuple(versions), line
        )

    def count(self) -> None:
        """Count one value that is read. Raises TooMuchError."""
        self.left -= 1
        if self.left < 0:
            raise TooMuchError(f"more than {MOST_VALUES} values")


def entries_of(table: Table) -> dict[str, Node]:
    """Return the values of a table by their keys, merged ones too; those of a repeated key in a list."""
    found: dict[str, list[Node]] = {}
    for key, value in table.items():
        found.setdefault(key, []).append(value)
    return {key: each[0] if len(each) == 1 else Items(each) for key, each in found.items()}


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def shell_shape(text: str) -> object:
    """Return what a shell reads in a text: its commands without comments and layout; the text if it is no shell.

    Expressions of a workflow are filled in before, also in comments, so they are compared as they are.
    """
    expressions = EXPRESSION.findall(text)
    script = (
        parse(EXPRESSION.sub("${_expression}", text))
        if len(text) <= LONGEST_SCRIPT
        else None
    )
    if script is None or script.errors:
        return text.strip()
    return expressions, shape_of(script.items)


def shape_of(node: object) -> object:
    """Return a part of the tree of a script without its places."""
    if isinstance(node, Span):
        return None
    if isinstance(node, tuple):
        return tuple(map(shape_of, node))
    if is_dataclass(node):
        return (
            type(node).__name__,
            *(shape_of(getattr(node, each.name)) for each in fields(node)),
        )
    return node


def differing_keys(before: Mapping[str, Value], after: Mapping[str, Value]) -> list[str]:
    """Return the keys whose values differ, in the order of the file after the change, lost ones last."""
    keys = [*after, *(key for key in before if key not in after)]
    return [
        key
        for key in keys
        if key not in before or key not in after or not before[key].allows(after[key])
    ]
