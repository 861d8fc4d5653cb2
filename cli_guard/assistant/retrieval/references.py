"""Every occurrence of a name, classified by syntax tree: definition, import, call, use or mention."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cli_guard.assistant.retrieval.hits import COMMENT
from cli_guard.assistant.retrieval.masked_lines import MaskedLines
from cli_guard.assistant.retrieval.path_kinds import WEIGHTS, kind_of
from cli_guard.assistant.retrieval.types import NameReference, ReferenceKind, ReferenceList
from cli_guard.code.definitions import (
    Definition,
    definition_nodes,
    find_definitions,
    is_parseable,
)
from cli_guard.code.languages import language_for
from cli_guard.code.syntax import Trees
from cli_guard.errors import UsageError
from cli_guard.model import Skipped

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_IN_FILE = 500
MOST_REFERENCES = 5_000
# How much text is parsed for one name: what counts more in a search comes first.
MOST_CHARS = 8_000_000
DOTTED_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#)[^\W\d][\w$]*){0,20}")
RANK: dict[ReferenceKind, int] = {
    "definition": 0,
    "import": 1,
    "call": 2,
    "use": 3,
    "mention": 4,
}
IMPORTS = re.compile(
    r"import|^use_declaration$|^using_directive$|^namespace_use|^preproc_include$|^require"
)
MENTIONS = re.compile(
    r"comment|string|template_chars|char_literal|text$|heredoc|documentation"
)
# Calls without a bracket: a command of a shell, a method of Ruby, an application of Haskell.
BARE_CALLS = {"bash": "command_name", "ruby": "call", "haskell": "apply", "elixir": "call"}
NEW = frozenset(("new_expression", "object_creation_expression", "macro_invocation"))
MOST_PARENTS = 4


def find_references(name: str, texts: Mapping[str, str]) -> ReferenceList:
    """Find the occurrences of a name in `texts` (path -> text).

    A dotted name ("Session.send") matches its last part where the parts before it precede it, enclose its definition,
    or name the module it is imported from; types are not inferred. Raises UsageError for text that is not a name.
    """
    if not DOTTED_NAME.fullmatch(name):
        raise UsageError(
            f"{name[:60]!r} is not a name: give an identifier, dotted if it has an owner"
        )
    parts = re.split(r"\.|::|#", name)
    found = []
    skipped = []
    holding = [path for path in texts if parts[-1] in texts[path]]
    holding.sort(key=lambda path: (-WEIGHTS[kind_of(path)], path))
    read = 0
    for path in holding:
        read += len(texts[path])
        if read > MOST_CHARS:
            reason = f"this file and those after it: over {MOST_CHARS:,} characters"
            skipped.append(Skipped(path, reason, asks=True))
            break
        here = list(_find_in_file(parts, path, texts[path]))
        if len(here) > MOST_IN_FILE:
            skipped.append(
                Skipped(path, f"over the limit of {MOST_IN_FILE} occurrences", asks=True)
            )
        found += here[:MOST_IN_FILE]
        if len(found) >= MOST_REFERENCES:
            skipped.append(
                Skipped(
                    path,
                    f"files after this one: {MOST_REFERENCES:,} occurrences",
                    asks=True,
                )
            )
            break
    found.sort(key=lambda each: (RANK[each.kind], each.path, each.line, each.column))
    return ReferenceList(tuple(found), tuple(skipped))


def _find_in_file(parts: list[str], path: str, text: str) -> Iterator[NameReference]:
    name = parts[-1]
    definitions = find_definitions(path, text)
    defined_at = {each.line: each for each in definitions if each.name == name}
    is_code = language_for(path, text) in definition_nodes()
    has_tree = is_code and is_parseable(text)
    kinds = _classify_nodes(name, path, text)
    whole_name = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    masked = MaskedLines(path, text)
    count = 0
    for number, line in enumerate(text.split("\n"), 1):
        first = True
        for match in whole_name.finditer(line):
            column = match.start() + 1
            kind = kinds.get((number, column), "mention")
            if is_code and not has_tree and not COMMENT.match(line):
                # Too long for a tree: a bracket behind it has to do.
                kind = "call" if line[match.end() :].lstrip().startswith("(") else "use"
            definition = defined_at.get(number)
            # `def f(a=f)` defines the first one and uses the other.
            if definition and first and (kind != "mention" or not is_code):
                kind = "definition"
            first = False
            if len(parts) > 1 and not _has_owner(
                parts, kind, definition, definitions, line, number, column
            ):
                continue
            count += 1
            yield NameReference(path, number, column, masked.line(number), kind)
            if count > MOST_IN_FILE:
                return


def _classify_nodes(
    name: str, path: str, text: str
) -> dict[tuple[int, int], ReferenceKind]:
    language = language_for(path, text)
    if language is None or language not in definition_nodes() or not is_parseable(text):
        return {}
    kinds = {}
    for node in Trees().root(language, text).find_all(regex=f"^[$@]?{re.escape(name)}$"):
        if not node.children() or node.kind() == "variable_name":
            start = node.range().start
            column = start.column + (node.text()[:1] in "$@" and not name.startswith("$"))
            kinds[start.line + 1, column + 1] = _classify(node, language, text)
    return kinds


def _classify(node: "SgNode", language: str, text: str) -> ReferenceKind:
    parents: list[SgNode] = []
    parent = node.parent()
    while parent and len(parents) < MOST_PARENTS:
        parents.append(parent)
        parent = parent.parent()
    kinds = [each.kind() for each in parents]
    if MENTIONS.search(node.kind()) and node.kind() != "string_identifier":
        return "mention"
    if any(IMPORTS.search(kind) for kind in kinds):
        return "import"
    if "object_pattern" in kinds and any(
        "require(" in each.text()[-200:] for each in parents[1:3]
    ):
        return "import"
    if not kinds:
        return "use"
    if kinds[0] == BARE_CALLS.get(language):
        first = parents[0].child(0)
        if language != "haskell" or (first and first.range() == node.range()):
            return "call"
    if kinds[0] in NEW:
        return "call"
    end = node.range().end.index
    after = text[end : end + 40].lstrip("!?").lstrip(" ")
    if after.startswith("(") or re.match(r"(?:::)?<[\w, <>\[\]]*>\(", after):
        called = any(
            "call" in kind or "invocation" in kind or "creation" in kind for kind in kinds
        )
        return "call" if called else "use"
    return "use"


def _has_owner(
    parts: list[str],
    kind: ReferenceKind,
    definition: Definition | None,
    definitions: tuple[Definition, ...],
    line: str,
    number: int,
    column: int,
) -> bool:
    """Return whether an occurrence of the last part belongs to the parts before it."""
    owner = parts[:-1]
    if kind == "definition" and definition:
        return definition.qualname.split(".")[-len(parts) :] == parts
    before = line[: column - 1]
    joined = r"\s*(?:\.|::|->|#)\s*".join(map(re.escape, owner))
    if re.search(rf"(?<![\w$]){joined}(?:\(\))?\s*(?:\.|::|->|#)\s*$", before):
        return True
    if kind == "import":
        return owner[-1] in line
    if re.search(r"(?:\bself|\bthis|\bcls|@)\s*(?:\.|->)?\s*$", before):
        return any(
            each.kind == "class"
            and each.name == owner[-1]
            and each.line <= number <= each.end_line
            for each in definitions
        )
    return False
