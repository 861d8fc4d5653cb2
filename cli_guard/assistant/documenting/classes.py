"""What is to be said of a class and of a module: fields, parts, where an error is raised."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.drafts import Draft, defaults_of, parameter_words, sentence
from cli_guard.assistant.documenting.facts import read_body, used
from cli_guard.assistant.documenting.facts.code import code, names_credential, quotable
from cli_guard.assistant.documenting.facts.nodes import STRINGS, attribute, descendant, expressions, line_of
from cli_guard.assistant.documenting.facts.use import listed
from cli_guard.assistant.documenting.summaries import an
from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.reviewers.docs.wording import words

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_NAMES = 6
LONGEST = 76
ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
RECORDS = frozenset({"NamedTuple", "TypedDict", "BaseModel", "BaseSettings"})
PROTOCOLS = {
    "__enter__": "context manager", "__aenter__": "asynchronous context manager", "__iter__": "iterable",
    "__aiter__": "asynchronous iterable", "__call__": "callable", "__getitem__": "indexed by keys",
}  # fmt: skip


def type_draft(symbol: Symbol, symbols: Sequence[Symbol], language: str) -> Draft:
    """What is to be said of a class or type of another language than Python."""
    name = " ".join(words(symbol.name))
    deeds = [
        s
        for s in symbols
        if s.owner == symbol.name
        and s.public
        and s.is_function
        and s.name not in (symbol.name, "constructor")
    ]
    fields = _type_fields(symbol.node) if language == "go" else []
    shown = names_of([f"`{s.name}`" for s in deeds], MOST_NAMES)
    sentences = []
    summary = sentence(name)
    if language == "go":
        interface = symbol.node is not None and descendant(symbol.node, "interface_type") is not None
        held = f"holds {names_of([f'`{f}`' for f in fields], MOST_NAMES)}" if fields else f"is {an(name)}"
        summary = f"{symbol.name} {f'is the interface of {an(name)}' if interface else held}."
    if deeds:
        sentences.append(f"Its method{'s are' if len(deeds) > 1 else ' is'} {shown}.")
    note = f"The first line is no more than the name says: put in what a {name} is for."
    return Draft(
        summary, tuple(sentences), note=note, lines=(symbol.line, *(s.line for s in deeds[:MOST_NAMES]))
    )


def _type_fields(node: "SgNode | None") -> list[str]:
    """The exported fields of a Go struct."""
    struct = node.field("type") if node is not None else None
    if struct is None or struct.kind() != "struct_type":
        return []
    listed = next((c for c in struct.named_children() if c.kind() == "field_declaration_list"), None)
    names = [
        n.text()
        for declaration in (listed.named_children() if listed is not None else ())
        for n in declaration.field_children("name")
    ]
    return [n for n in names if n[:1].isupper()]


def class_draft(symbol: Symbol, symbols: Sequence[Symbol], text: str) -> Draft:
    """What is to be said of a Python class, by its bases, its fields and its methods."""
    members = [s for s in symbols if s.qualname.rpartition(".")[0] == symbol.qualname and _inside(s, symbol)]
    bases = _bases(symbol.node)
    lines = [symbol.line]
    name = " ".join(words(symbol.name))
    if any(base in ENUMS for base in bases):
        values = _assigned_names(symbol.node)
        lines += [line for _, line in values]
        listed = names_of([f"`{n}`" for n, _ in values])
        return Draft(sentence(f"{name}: {listed}" if listed else name), lines=tuple(sorted(set(lines))))
    if any(re.search(r"(Error|Exception|Warning)$", base) for base in bases):
        return _error(symbol, bases, symbols, text, name)
    record = bool(
        {"dataclass", "define", "frozen", "attrs", "s"} & {d.rsplit(".", 1)[-1] for d in symbol.decorators}
    )
    fields = _fields(symbol.node) if record or RECORDS & set(bases) else []
    if fields:
        lines += [line for _, _, line in fields]
        return Draft(
            sentence(name[0].upper() + name[1:]),
            attributes=tuple((parameter, told) for parameter, told, _ in fields),
            note=_note(name, [p.name for p, told, _ in fields if not told]),
            lines=tuple(sorted(set(lines))),
        )
    return _plain(symbol, members, bases, name)


def _kind_of(base: str) -> str:
    return f"{'An' if base[0].lower() in 'aeio' else 'A'} `{base}`."


def _inside(inner: Symbol, outer: Symbol) -> bool:
    return outer.line <= inner.line and inner.end_line <= outer.end_line


def _plain(symbol: Symbol, members: list[Symbol], bases: list[str], name: str) -> Draft:
    deeds = [
        s
        for s in members
        if s.public and s.quiet != "overload" and s.is_function and "property" not in s.decorators
    ]
    lines = [symbol.line, *(s.line for s in deeds[:MOST_NAMES])]
    summary = sentence(name)
    sentences = []
    if bases and bases[0] not in ("object", "ABC", "Generic", "Protocol"):
        sentences.append(_kind_of(bases[0]))
    if "Protocol" in bases:
        summary = sentence(f"Protocol of {an(name)}")
    elif "ABC" in bases or any("abstractmethod" in s.decorators for s in members):
        summary = sentence(f"Base class of {an(name)}")
        asked = [f"`{s.name}`" for s in members if any(d.endswith("abstractmethod") for d in s.decorators)]
        if asked:
            sentences.append(f"A subclass has to define {names_of(asked)}.")
    if deeds:
        listed = names_of([f"`{s.name}`" for s in deeds], MOST_NAMES)
        sentences.append(f"Its methods are {listed}." if len(deeds) > 1 else f"Its method is {listed}.")
    ways = [PROTOCOLS[s.name] for s in members if s.name in PROTOCOLS]
    if ways:
        sentences.append(f"It is {names_of([an(way) if way.endswith('manager') else way for way in ways])}.")
    maker = next((s for s in members if s.name == "__init__" and s.node is not None), None)
    told: list[tuple[Parameter, str]] = []
    if maker is not None and maker.node is not None and maker.doc is None:
        body = read_body(maker.node, "python")
        uses = used(body, frozenset(p.name for p in maker.parameters))
        defaults = defaults_of(maker.node)
        told = [
            (p, parameter_words(p, uses[p.name], defaults.get(p.name, "")))
            for p in maker.parameters
            if p.name
        ]
        told = [(p, _kept_use(p, text, symbol)) for p, text in told]
        lines.append(maker.line)
    return Draft(
        summary,
        sentences=tuple(sentences),
        parameters=tuple(told),
        note=_note(name, [p.name for p, words_ in told if not words_ and not p.star]),
        lines=tuple(sorted(set(lines))),
    )


def _kept_use(parameter: Parameter, text: str, symbol: Symbol) -> str:
    """A parameter that is only kept, completed by what the methods call on it."""
    kept = re.match(r"Kept as `(\w+)`\.", text)
    if kept is None or symbol.node is None:
        return text
    body = symbol.node.text()
    called = sorted(set(re.findall(rf"\bself\.{kept[1]}\.([a-z]\w*)\(", body)))
    if called:
        verb = "are" if len(called) > 1 else "is"
        return text.replace(kept[0], f"Its {names_of([f'`{c}`' for c in called], 4)} {verb} called.", 1)
    if re.search(rf"\bself\.{kept[1]}\(", body):
        return text.replace(kept[0], "Function that the methods call.", 1)
    return text.replace(kept[0], "", 1).strip() if kept[1] == parameter.name else text


def _note(name: str, unknown: list[str]) -> str:
    text = f"The first line is no more than the name says: put in what a {name} is for."
    if unknown:
        text += f" The code does not show what {names_of([f'`{n}`' for n in unknown], MOST_NAMES)} mean."
    return text


def _error(symbol: Symbol, bases: list[str], symbols: Sequence[Symbol], text: str, name: str) -> Draft:
    raising = re.compile(rf"\braise {re.escape(symbol.name)}\b")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if raising.search(line)][:20]
    within = []
    for number in lines:
        around = [s for s in symbols if s.is_function and s.line <= number <= s.end_line]
        if around:
            within.append(f"`{around[-1].qualname}`")
    within = list(dict.fromkeys(within))
    if within:
        return Draft(
            sentence(f"{name}, raised by {names_of(within, 4)}"), lines=tuple(sorted({symbol.line, *lines}))
        )
    return Draft(
        sentence(name),
        sentences=(_kind_of(bases[0]),),
        note="Nothing in this file raises it: say when it is raised.",
        lines=(symbol.line,),
    )


def names_of(names: Sequence[str], most: int = 8) -> str:
    """The names as a list in a sentence, cut after `most`."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return listed(names) if names else ""


def _bases(node: "SgNode | None") -> list[str]:
    listed = node.field("superclasses") if node is not None else None
    if listed is None:
        return []
    texts = [
        c.text().split("[")[0].rsplit(".", 1)[-1]
        for c in listed.named_children()
        if c.kind() != "keyword_argument"
    ]
    return [t for t in texts if t.isidentifier()]


def _statements(node: "SgNode | None") -> list["SgNode"]:
    body = node.field("body") if node is not None else None
    if body is None:
        return []
    found = [
        c for s in body.named_children() if s.kind() == "expression_statement" for c in s.named_children()
    ]
    return [c for c in found if c.kind() == "assignment"]


def _assigned_names(node: "SgNode | None") -> list[tuple[str, int]]:
    names = []
    for each in _statements(node):
        left = each.field("left")
        for target in expressions(left) if left is not None else ():
            if target.kind() == "identifier" and not target.text().startswith("_"):
                names.append((target.text(), line_of(target)))
    return names


def _fields(node: "SgNode | None") -> list[tuple[Parameter, str, int]]:
    """The annotated fields of a record; the comment behind or above one is what its author says of it."""
    fields = []
    for each in _statements(node):
        left, kind, value = each.field("left"), each.field("type"), each.field("right")
        if left is None or kind is None or attribute(left) or left.text().startswith("_"):
            continue
        annotation = " ".join(kind.text().split())
        if annotation.split("[")[0].rsplit(".", 1)[-1] in ("ClassVar", "InitVar"):
            continue
        default = ""
        if value is not None and not (names_credential(left.text()) and value.kind() in STRINGS):
            default = quotable(value.text(), 30)
            default = "" if default in ("None", "...") or "(" in default else default
        parameter = Parameter(left.text(), annotation)
        told = " ".join(filter(None, (_remark(each), parameter_words(parameter, (), default))))
        fields.append((parameter, told, line_of(each)))
    return fields


def _remark(assignment: "SgNode") -> str:
    """A comment on the line of a field."""
    statement = assignment.parent()
    after = statement.next() if statement is not None else None
    if after is None or after.kind() != "comment" or line_of(after) != line_of(assignment):
        return ""
    text = after.text().lstrip("#: ").strip()
    plain = code(text, 80)
    return (
        sentence(plain.strip("`"))
        if plain and not text.startswith(("type:", "noqa", "pragma", "fmt"))
        else ""
    )
