"""Who uses a name, a file or a mark in comments: every place in code, in every language that is read."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from posixpath import basename

from cli_guard.assistant.request_question import SearchQuery
from cli_guard.assistant.retrieval.masked_lines import MaskedLines
from cli_guard.assistant.retrieval.path_kinds import WEIGHTS, kind_of
from cli_guard.assistant.retrieval.references import DOTTED_NAME, find_references
from cli_guard.assistant.retrieval.types import NameReference, NameUses
from cli_guard.code.definitions import find_definitions
from cli_guard.code.file_imports import ImportGraph
from cli_guard.code.languages import language_for
from cli_guard.model import Skipped

IN_CODE = frozenset(("import", "call", "use"))
# Not written by hand: shown where nothing else has the name.
MADE = frozenset(("vendored", "generated"))
PROSE = frozenset(("doc", "changes", "data"))
MOST_MARKS = 2_000
# Files of a folder whose importers are looked for.
MOST_IMPORTED = 50
Skips = list[Skipped]


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
