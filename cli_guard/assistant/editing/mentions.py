"""Finds a name outside of code proper (strings, comments, configuration, prose), and groups all uses for a reader."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Ranges
from cli_guard.assistant.editing.model import USAGE_KINDS, Place, UsageGroup, UsageKind
from cli_guard.assistant.editing.sources import PLACES, SCRIPT_LANGUAGES, Sources, is_configuration
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from ast_grep_py import SgNode

SHOWN_PLACES = 200
SHOWN_CHARS = 160
CALLS = frozenset(
    {"call", "call_expression", "method_invocation", "new_expression", "object_creation_expression"}
)
IMPORTS = frozenset(
    {
        "import_statement",
        "import_from_statement",
        "import_declaration",
        "use_declaration",
        "import_spec",
        "future_import_statement",
    }
)
DEFINITIONS = frozenset(
    {
        "function_definition",
        "class_definition",
        "function_declaration",
        "class_declaration",
        "method_definition",
        "method_declaration",
        "interface_declaration",
        "type_alias_declaration",
        "enum_declaration",
        "variable_declarator",
        "function_item",
        "struct_item",
        "enum_item",
        "trait_item",
        "type_spec",
        "const_spec",
        "var_spec",
        "generator_function_declaration",
        "abstract_class_declaration",
    }
)
SCRIPT_NAMES = (
    "identifier",
    "property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
)


def word(name: str) -> re.Pattern[str]:
    """Finds a name that is no part of a longer one."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def kind_of(node: "SgNode") -> UsageKind:
    """What a name in code is used for."""
    parent = node.parent()
    if parent is None:
        return "use"
    if parent.kind() in DEFINITIONS:
        named = parent.field("name")
        if named is not None and named.range().start.index == node.range().start.index:
            return "definition"
    child, around = node, parent
    for _ in range(4):
        if around.kind() in IMPORTS or (
            around.kind() == "export_statement" and around.field("source") is not None
        ):
            return "import"
        if around.kind() in CALLS:
            callee = around.field("function") or around.field("constructor") or around.field("name")
            if callee is not None and callee.range().start.index <= node.range().start.index:
                inside = node.range().end.index == callee.range().end.index
                return "call" if inside and child.range().end.index == callee.range().end.index else "use"
        above = around.parent()
        if above is None:
            break
        child, around = around, above
    return "use"


def usages_of(
    sources: Sources,
    name: str,
    definitions: Iterable[tuple[str, int]] = (),
    only: Iterable[tuple[str, int]] = (),
) -> tuple[UsageGroup, ...]:
    """All places of a name by kind. `definitions` are starts known to define it; `only` limits code to these starts."""
    found: dict[UsageKind, list[Place]] = {kind: [] for kind in USAGE_KINDS}
    defined, chosen = set(definitions), set(only)
    for path in sources.mentioning(name):
        for start, kind in places_in(sources, path, name):
            in_code = kind in ("definition", "import", "call", "use")
            if chosen and in_code and (path, start) not in chosen:
                continue
            shown: UsageKind = "definition" if (path, start) in defined else kind
            place = shown_place(sources, path, sources.line(path, start))
            if len(found[shown]) < SHOWN_PLACES and place not in found[shown][-1:]:
                found[shown].append(place)
    return tuple(UsageGroup(kind, tuple(places)) for kind, places in found.items() if places)


def places_in(sources: Sources, path: str, name: str) -> Iterator[tuple[int, UsageKind]]:
    """Each place of a name in one file, in order."""
    matches = [m.start() for m in word(name).finditer(sources.texts[path])]
    root = sources.root(path)
    if root is None:
        kind: UsageKind = "configuration" if is_configuration(path) else "documentation"
        if sources.language(path) is not None:
            kind = "use"
        yield from ((start, kind) for start in matches)
        return
    code: dict[int, SgNode] = {}
    if re.fullmatch(r"[\w$]+", name):
        wanted = f"^{re.escape(name)}$"
        named = root.find_all(any=[{"kind": k, "regex": wanted} for k in kinds_for(sources.language(path))])
        code = {node.range().start.index: node for node in sources.some(path, named)}
    comments = Ranges()
    remarks = root.find_all(any=[{"kind": k} for k in comment_kinds(sources.language(path))])
    for node in sources.some(path, remarks):
        comments.add(node.range().start.index, node.range().end.index)
    for number, start in enumerate(matches):
        if number >= PLACES or (number % 32 == 0 and not sources.in_time(path)):
            return
        if start in code:
            yield start, kind_of(code[start])
        elif comments.hold(start):
            yield start, "comment"
        elif sources.language(path) == "yaml":
            yield start, "configuration"
        else:
            yield start, "string"


def kinds_for(language: str | None) -> tuple[str, ...]:
    """The kinds of names in a grammar; a kind that a grammar lacks makes ast-grep refuse the search."""
    if language == "python":
        return ("identifier",)
    if language in SCRIPT_LANGUAGES:
        return SCRIPT_NAMES if language == "javascript" else (*SCRIPT_NAMES, "type_identifier")
    if language == "go":
        return ("identifier", "type_identifier", "field_identifier", "package_identifier")
    if language == "java":
        return ("identifier", "type_identifier")
    if language == "rust":
        return ("identifier", "type_identifier", "field_identifier")
    return {"bash": ("variable_name", "word"), "ruby": ("identifier", "constant"), "php": ("name",)}.get(
        language or "", ("identifier",) if language == "hcl" else ("plain_scalar",)
    )


def comment_kinds(language: str | None) -> tuple[str, ...]:
    """The kinds of comments in a grammar."""
    return ("line_comment", "block_comment") if language in ("java", "rust") else ("comment",)


def shown_place(sources: Sources, path: str, line: int) -> Place:
    """A line as a reader may see it: no secret, not too long."""
    # A secret's name may stand far before it: what is cut off is cut after it was masked.
    text = redact(sources.line_text(path, line)[: 20 * SHOWN_CHARS], path).strip()
    return path, line, text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 3] + "..."
