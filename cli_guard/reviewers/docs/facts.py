"""What the code of a function shows beyond its name and signature, as sentences with the code quoted as written.

Errors and special results with their condition, what None stands for, units, effects on arguments, and what the tests
of the change are called.
"""

import re
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from cli_guard.code.symbols import Symbol
from cli_guard.code.symbols.nesting import field_text
from cli_guard.lazy import dataclass
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import SgNode

TABLE = read_table("languages/documentation.toml")["facts"]
UNITS = {unit: re.compile(pattern) for unit, pattern in TABLE["units"].items()}
CHANGES, SCOPES, BRANCHES, SPECIAL, KEYWORDS = (
    frozenset(TABLE[name].split())
    for name in ("changes", "scopes", "branches", "special", "keywords")
)
OBJECT = frozenset(("self", "this", "cls"))
MOST_NODES = 3_000
LONGEST = 70
MOST_CONDITIONS = 4
NAME = re.compile(r"(?<![\w.$'\"])[A-Za-z_$][\w$]*(?!['\"\w(])")
QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
ERROR = re.compile(r"(?:\w{1,60}\.){0,4}[A-Z]\w{0,80}")
GO_ERROR = re.compile(r"(?:\w{1,60}\.)?[eE]rr[A-Z]\w{0,80}|io\.EOF")
FALLBACK = re.compile(r"\s+(?:or|\|\||\?\?)\s+(.+)", re.DOTALL)
# What would end a comment or a quotation, and what is private.
UNSAFE = re.compile(r"[\\`]|\*/|\"\"\"|'''|(?<!\w)_")
CALLS = ("call", "call_expression", "method_invocation")
ASSIGNMENTS = frozenset(
    f"{kind}{end}"
    for kind in ("assignment", "augmented_assignment")
    for end in ("", "_expression")
)
TEST = re.compile(
    r"\s*(?:async )?def test_(\w{1,200})|\s*(?:it|test)\(\s*['\"`]([^'\"`]{1,200})"
)


@dataclass
class BodyFacts:
    """What the body of one function shows; `about` are what it says of parameters, by name."""

    language: str
    errors: dict[str, list[str]] = field(default_factory=dict)
    results: dict[str, list[str]] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    about: dict[str, dict[str, None]] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Return them in the third person, what comes back first."""
        raises = {"python": "Raises", "go": "Returns"}.get(self.language, "Throws")
        return [
            *(
                _sentence(f"Returns {what}", when)
                for what, when in self.results.items()
                if any(when)
            ),
            *(f"Changes `{name}` in place." for name in self.changed),
            *(
                _sentence(f"{raises} {error}", when)
                for error, when in self.errors.items()
                if any(when)
            ),
            *(f"`{name}` {' and '.join(texts)}." for name, texts in self.about.items()),
        ]


def facts_of(language: str, symbol: Symbol) -> BodyFacts:
    """Read the body of a function; a class has no facts."""
    facts = BodyFacts(language)
    body = (
        symbol.node.field("body")
        if symbol.node is not None and symbol.is_function
        else None
    )
    if body is None:
        return facts
    names = {p.name for p in symbol.parameters if p.name and not p.star}
    known = {p.name for p in symbol.parameters if p.name} | OBJECT
    rebound: set[str] = set()
    for node, condition in _walk(body):
        kind = node.kind()
        if kind in ("raise_statement", "throw_statement", "return_statement"):
            _read_end(facts, node, condition, known)
        elif kind in CALLS:
            java = f"{field_text(node, 'object')}.{field_text(node, 'name')}"
            owner, _, method = (field_text(node, "function") or java).rpartition(".")
            if owner in names and method in CHANGES:
                facts.changed[owner] = None
        elif kind in ASSIGNMENTS:
            target = field_text(node, "left")
            value = field_text(node, "right")
            if target in names:
                if not _read_default(facts, target, value, condition, known):
                    rebound.add(target)
            elif (owner := re.split(r"[.\[]", target, maxsplit=1)[0]) in names:
                facts.changed[owner] = None
    for unit, pattern in UNITS.items():
        for found in pattern.finditer(body.text()):
            if found["name"] in names - rebound:
                told = f"is in {found.groupdict().get('unit') or unit}"
                facts.about.setdefault(found["name"], {})[told] = None
    # In Go a parameter may be a copy; what a name is bound to anew is not the argument.
    for name in names if language == "go" else rebound:
        facts.changed.pop(name, None)
    return facts


def tests_of(name: str, lines: Iterator[str]) -> list[str]:
    """Return what tests on these lines are called, without the name of the function that they are about."""
    found = (match[1] or match[2] for line in lines if (match := TEST.match(line[:300])))
    rest = (
        t[len(name) :].replace("_", " ").strip()
        for t in found
        if t.startswith((f"{name}_", f"{name} "))
    )
    return [text for text in rest if " " in text and not UNSAFE.search(text)]


def _walk(body: "SgNode") -> Iterator[tuple["SgNode", str | None]]:
    """Yield the nodes of a function itself with their condition: "" for always, None where it is not known."""
    stack: list[tuple[SgNode, str | None]] = [(body, "")]
    for _ in range(MOST_NODES):
        if not stack:
            return
        node, condition = stack.pop()
        yield node, condition
        kind = node.kind()
        then = node.field("consequence") if kind == "if_statement" else None
        inside = None if kind in BRANCHES else condition
        for child in reversed(node.named_children()):
            if child.kind() in SCOPES:
                continue
            if then is not None and child.range() == then.range():
                stack.append((child, _both(condition, node.field("condition"))))
            else:
                stack.append((child, None if then is not None else inside))


def _both(outer: str | None, inner: "SgNode | None") -> str | None:
    if outer != "" or inner is None:
        return None
    text = " ".join(inner.text().split())
    return text[1:-1].strip() if inner.kind() == "parenthesized_expression" else text


def _read_end(
    facts: BodyFacts, node: "SgNode", condition: str | None, names: set[str]
) -> None:
    """Record an error or a special result with its condition, "" if a caller does not see that."""
    value = next(
        (child for child in node.named_children() if "comment" not in child.kind()), None
    )
    if value is None:
        return
    text = value.text()
    shown = condition if condition and _visible(condition, names) else ""
    if node.kind() == "return_statement" and facts.language != "go":
        if text in SPECIAL:
            facts.results.setdefault(text, []).append(shown)
        return
    if facts.language == "go":
        text = text.rpartition(",")[2].strip()
    elif len(text) > 10 * LONGEST or value.kind() in (
        "call",
        "new_expression",
        "object_creation_expression",
    ):
        text = next(
            (
                t
                for name in ("function", "constructor", "type")
                if (t := field_text(value, name))
            ),
            "",
        )
    if (GO_ERROR if facts.language == "go" else ERROR).fullmatch(
        text
    ) and text != "NotImplementedError":
        facts.errors.setdefault(text, []).append(shown)


def _read_default(
    facts: BodyFacts, name: str, value: str, condition: str | None, names: set[str]
) -> bool:
    """Record what a missing argument stands for (`if a is None: a = x`, `a = a or x`); return whether it does."""
    missing = rf"(?:not |!){re.escape(name)}|{re.escape(name)} (?:is None|===? (?:null|undefined|nil))"
    default = ""
    if re.fullmatch(missing, condition or ""):
        default = value
    elif value.startswith(name) and (match := FALLBACK.match(value.removeprefix(name))):
        default = match[1]
    default = " ".join(default.split())
    if default and _visible(default, names, own=False):
        facts.about.setdefault(name, {})[f"defaults to `{default}`"] = None
    return bool(default)


def _visible(text: str, names: set[str], *, own: bool = True) -> bool:
    """Return whether a text names only parameters, the object and constants; `own`: at least one is no constant."""
    if len(text) > LONGEST or UNSAFE.search(text) or not text.isprintable():
        return False
    named = set(NAME.findall(QUOTED.sub("''", text))) - KEYWORDS
    hidden = {name for name in named - names if not name[0].isupper()}
    return not hidden and (not own or not named.isdisjoint(names))


def _sentence(beginning: str, conditions: list[str]) -> str:
    shown = list(dict.fromkeys(f"`{each}`" for each in conditions if each))
    is_all = all(conditions) and len(shown) <= MOST_CONDITIONS
    return f"{beginning}{' if' if is_all else ', for example if'} {' or if '.join(shown[:MOST_CONDITIONS])}."
