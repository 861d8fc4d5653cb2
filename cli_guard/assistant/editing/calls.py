"""The calls of a file, in every language that has a grammar here, and matching them with a pattern like `foo(a, b)`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.python_names import span
from cli_guard.assistant.editing.sources import Sources

if TYPE_CHECKING:
    from ast_grep_py import SgNode

CALL_KINDS: Mapping[str, tuple[str, ...]] = {
    "python": ("call",),
    "javascript": ("call_expression", "new_expression"),
    "typescript": ("call_expression", "new_expression"),
    "tsx": ("call_expression", "new_expression"),
    "go": ("call_expression",),
    "java": ("method_invocation", "object_creation_expression"),
    "rust": ("call_expression",),
}
PATTERN = re.compile(r"(?:new\s+)?(?P<callee>[\w$.:]+)\s*(?P<arguments>\(.*\))?\s*;?", re.DOTALL)
NAME = re.compile(r"\$?[A-Za-z_][\w$]*")
REST = ("...", "*args", "$$$", "**kwargs", "*args, **kwargs", "...args", "…")
# An argument of these kinds can stand anywhere without brackets.
TIGHT = frozenset(
    "identifier string integer float true false none call call_expression attribute member_expression subscript list "
    "dictionary set tuple parenthesized_expression number array object template_string method_invocation field_access "
    "string_literal decimal_integer_literal subscript_expression array_access this null selector_expression".split()
)
LONGEST_PATTERN = 2_000


@dataclass(frozen=True, slots=True)
class Call:
    """A call: where it stands, what it calls as text and place, and its arguments."""

    path: str
    start: int
    end: int
    callee: str
    callee_start: int
    callee_end: int
    arguments: tuple["SgNode", ...]
    node: "SgNode"


@dataclass(frozen=True, slots=True)
class CallPattern:
    """What to look for: a dotted name, and the arguments as written; None where any will do."""

    callee: str
    arguments: tuple[str, ...] | None
    # The arguments that stand for anything, and `rest` for all that follow.
    variables: frozenset[str] = field(default_factory=frozenset)
    rest: bool = False


def calls_in(sources: Sources, path: str) -> tuple[Call, ...]:
    """Each call of a file, outer before inner; found once a text."""
    language, text = sources.language(path), sources.texts[path]
    if language is None or language not in CALL_KINDS or sources.root(path) is None:
        return ()
    return sources.trees.derived(
        f"calls of {path}", language, text, lambda _: tuple(find_calls(sources, path))
    )


def find_calls(sources: Sources, path: str) -> Iterator[Call]:
    """The calls of a file as they are found."""
    kinds = CALL_KINDS.get(sources.language(path) or "")
    root = sources.root(path) if kinds else None
    if root is None or kinds is None:
        return
    for node in sources.bounded(path, root.find_all(any=[{"kind": kind} for kind in kinds])):
        arguments = node.field("arguments") or node.field("argument_list")
        found = callee_span(node)
        if found is None or found[1] - found[0] > 500:
            continue
        inner = tuple(arguments.named_children()) if arguments is not None else ()
        given = tuple(a for a in inner if "comment" not in a.kind())
        callee = re.sub(r"\s+", "", sources.texts[path][found[0] : found[1]])
        yield Call(path, *span(node), callee, *found, given, node)


def callee_span(node: "SgNode") -> tuple[int, int] | None:
    """Where what is called stands: `a.b.c` of `a.b.c(d)`."""
    if node.kind() == "method_invocation":
        name, owner = node.field("name"), node.field("object")
        if name is None:
            return None
        return span(owner if owner is not None else name)[0], span(name)[1]
    callee = node.field("function") or node.field("constructor") or node.field("type")
    return span(callee) if callee is not None else None


def read_pattern(text: str, replacement: str) -> CallPattern | None:
    """A pattern as a person writes it; a name that the replacement holds too stands for any argument."""
    match = PATTERN.fullmatch(text.strip()) if len(text) <= LONGEST_PATTERN else None
    if match is None:
        return None
    written = match["arguments"]
    if written is None:
        return CallPattern(match["callee"], None)
    arguments = split_arguments(written[1:-1])
    rest = bool(arguments) and arguments[-1] in REST
    if rest:
        arguments = arguments[:-1]
    in_replacement = set(NAME.findall(replacement.partition("(")[2] or replacement))
    variables = {a for a in arguments if NAME.fullmatch(a) and (a.startswith("$") or a in in_replacement)}
    if not arguments and not rest and re.fullmatch(r"(?:new\s+)?[\w$.:]+\(\s*\)", replacement.strip()):
        return CallPattern(match["callee"], None)
    # A single letter is nobody's value: it stands for an argument that the replacement drops.
    variables |= {a for a in arguments if re.fullmatch(r"[a-z]|arg\d?|_", a)}
    return CallPattern(match["callee"], tuple(arguments), frozenset(variables), rest)


def split_arguments(text: str) -> list[str]:
    """Arguments at the commas that no bracket and no string encloses."""
    found: list[str] = []
    current: list[str] = []
    depth, quote = 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            found.append("".join(current).strip())
            current = []
            continue
        current.append(sign)
    last = "".join(current).strip()
    return [*found, last] if last else found


def bind(pattern: CallPattern, call: Call) -> dict[str, str] | None:
    """What each name of the pattern stands for in a call, None if its arguments do not fit."""
    if pattern.arguments is None:
        return {}
    given = call.arguments
    plain = [
        a
        for a in given
        if a.kind() not in ("keyword_argument", "list_splat", "dictionary_splat", "spread_element")
    ]
    count = len(pattern.arguments)
    if len(given) < count or (len(given) > count and not pattern.rest) or len(plain) < count:
        return None
    if any(
        a.kind() != b.kind() or span(a) != span(b) for a, b in zip(given[:count], plain[:count], strict=True)
    ):
        return None
    found: dict[str, str] = {}
    for wanted, argument in zip(pattern.arguments, given, strict=False):
        text = argument.text()
        if wanted in pattern.variables:
            if found.setdefault(wanted, text) != text:
                return None
        elif re.sub(r"\s+", "", text).replace('"', "'") != re.sub(r"\s+", "", wanted).replace('"', "'"):
            return None
    if pattern.rest:
        found["..."] = ", ".join(a.text() for a in given[count:])
    return found


def fill(replacement: str, bound: Mapping[str, str], kinds: Mapping[str, str]) -> str:
    """The replacement with each name put in; brackets keep together what an operator would pull apart."""

    def put(match: re.Match[str]) -> str:
        name = match[0]
        if name not in bound:
            return name
        before, after = replacement[: match.start()].rstrip()[-1:], replacement[match.end() :].lstrip()[:1]
        text = bound[name]
        alone = before in ("(", ",", "=", "[", "") and after in (")", ",", "]", "")
        return text if alone or kinds.get(name, "") in TIGHT else f"({text})"

    text = re.sub(r"(?<![\w.$])\$?[A-Za-z_][\w$]*(?!\w)(?!\s*=(?!=))", put, replacement)
    if "..." in bound:
        for rest in sorted(REST, key=len, reverse=True):
            if rest in text:
                text = text.replace(rest, bound["..."], 1)
                break
        text = re.sub(r",\s*\)", ")", text) if not bound["..."] else text
    return text
