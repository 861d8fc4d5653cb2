"""Who uses a name, a file or a mark in comments: every place, by syntax tree, in every language that is read."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from posixpath import basename
from typing import TYPE_CHECKING

from cli_guard.assistant.request_question import SearchQuery
from cli_guard.assistant.retrieval.hits import COMMENT
from cli_guard.assistant.retrieval.masked_lines import MaskedLines
from cli_guard.assistant.retrieval.path_kinds import WEIGHTS, kind_of
from cli_guard.assistant.retrieval.types import (
    NameReference,
    NameUses,
    ReferenceKind,
    ReferenceList,
)
from cli_guard.code.definitions import (
    Definition,
    definition_nodes,
    find_definitions,
    is_parseable,
)
from cli_guard.code.file_imports import ImportGraph
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
IN_CODE = frozenset(("import", "call", "use"))
# Not written by hand: shown where nothing else has the name.
MADE = frozenset(("vendored", "generated"))
PROSE = frozenset(("doc", "changes", "data"))
MOST_MARKS = 2_000
# Files of a folder whose importers are looked for.
MOST_IMPORTED = 50
Skips = list[Skipped]


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


def find_uses(
    query: SearchQuery, texts: Mapping[str, str], paths: Sequence[str], skipped: Skips
) -> NameUses | None:
    """Find who uses what a question names; None where it does not ask for that, or names nothing that is there."""
    if query.marks and (marked := list(_find_marks(query.marks, texts, paths))):
        return group_uses(" and ".join(query.marks), marked, texts)
    if "use" not in query.kinds:
        return None
    for name in (*query.written, query.plain):
        if found := find_named(name, texts, paths, skipped):
            # An ordinary word is a name where it is defined or imported.
            kinds = {each.kind for each in found}
            if kinds & ({"definition", "import"} if name == query.plain else IN_CODE):
                return group_uses(name, found, texts)
            if "definition" in kinds:
                return group_uses(name, found, texts)
    return None


def find_named(
    name: str, texts: Mapping[str, str], paths: Sequence[str], skipped: Skips
) -> list[NameReference]:
    """Find the places of a name in code, or the imports of a file or of the files of a folder."""
    place = f"/{name.lstrip('./').rstrip('/')}"
    files = [path for path in paths if f"/{path}".endswith(place)]
    if "/" in name and not files:
        files = [path for path in paths if f"{place}/" in f"/{path}"]
    if name and (len(files) == 1 or "/" in name) and files:
        return list(_find_importers(files[:MOST_IMPORTED], texts, paths))
    if not DOTTED_NAME.fullmatch(name):
        return []
    some = {path: texts[path] for path in paths if kind_of(path) not in PROSE}
    listed = find_references(name, some)
    skipped += listed.skipped
    return [each for each in listed.references if each.kind != "mention"]


def _find_importers(
    files: Sequence[str], texts: Mapping[str, str], paths: Collection[str]
) -> Iterator[NameReference]:
    """Yield the lines that import some files; the first line of each stands for its definition."""
    graph = ImportGraph(texts)
    stems: dict[str, str] = {}
    for file in files:
        first = MaskedLines(file, texts[file]).line(1)
        yield NameReference(file, 1, 1, first, "definition")
        folder, _, name = file.rpartition("/")
        stem = name.partition(".")[0]
        if stem in ("__init__", "index", "mod") or file.endswith(".go"):
            stem = basename(folder)
        for path in graph.importers_of(file):
            stems.setdefault(path, stem)
    for path, stem in sorted(stems.items()):
        lines = texts[path].split("\n")
        number = next((n for n, line in enumerate(lines, 1) if stem in line), 1)
        if path in paths and path not in files:
            text = MaskedLines(path, texts[path]).line(number)
            yield NameReference(path, number, 1, text, "import")


def _find_marks(
    marks: Sequence[str], texts: Mapping[str, str], paths: Iterable[str]
) -> Iterator[NameReference]:
    """Yield the comments that begin with a mark ("TODO: ...")."""
    form = re.compile(
        rf"(?:#|//|/\*|\*|--|;|%|<!--|\"\"\")\s{{0,9}}@?(?:{'|'.join(marks)})\b"
    )
    left = MOST_MARKS
    for path in paths:
        if language_for(path, texts[path]) is None or not form.search(texts[path]):
            continue
        masked = MaskedLines(path, texts[path])
        for number, line in enumerate(texts[path].split("\n"), 1):
            if left and (found := form.search(line)):
                left -= 1
                at = found.start() + 1
                yield NameReference(path, number, at, masked.line(number), "mention")


def group_uses(
    name: str, found: Sequence[NameReference], texts: Mapping[str, str]
) -> NameUses:
    """Set the definitions and the tests apart; what was made from the source comes where there is nothing else."""
    ours = [each for each in found if kind_of(each.path) not in MADE] or found
    one_a_line = {(each.path, each.line): each for each in reversed(ours)}.values()
    ordered = sorted(
        one_a_line, key=lambda each: (-WEIGHTS[kind_of(each.path)], each.path, each.line)
    )
    code = [each for each in ordered if each.kind != "definition"]
    uses = [each for each in code if kind_of(each.path) != "test"]
    return NameUses(
        name,
        tuple(each for each in ordered if each.kind == "definition"),
        tuple(uses),
        tuple(each for each in code if kind_of(each.path) == "test"),
        tuple(_name_holders(uses, texts)),
    )


def _name_holders(uses: Iterable[NameReference], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the name of the innermost definition around each use, "" outside of any."""
    path = ""
    for each in uses:
        if each.path != path:
            path = each.path
            definitions = find_definitions(path, texts[path])
        around = (d for d in reversed(definitions) if d.line <= each.line <= d.end_line)
        yield next((d.qualname for d in around if d.line < each.line), "")
