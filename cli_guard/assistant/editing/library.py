"""Every use of a library in code: what is called with which arguments, and where."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.impact import CALL_CHARS, MOST_SHAPES, shape_of
from cli_guard.assistant.editing.sources import Sources, join_some
from cli_guard.assistant.editing.split import identifier_kinds
from cli_guard.code.definitions import is_parseable
from cli_guard.code.syntax import Trees

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_PLACES = 5
SCRIPT = ("import_statement", "variable_declarator")
IMPORTS: Mapping[str, tuple[str, ...]] = {
    "python": ("import_statement", "import_from_statement"),
    **dict.fromkeys(("javascript", "typescript", "tsx"), SCRIPT),
    "go": ("import_spec",),
    "java": ("import_declaration",),
    "rust": ("use_declaration",),
}
JOINED = frozenset(
    "attribute member_expression selector_expression field_expression field_access scoped_identifier "
    "qualified_type scoped_type_identifier nested_type_identifier".split()
)
CREATES = ("new_expression", "object_creation_expression")
PYTHON = re.compile(r"(?:from (?P<module>[\w.]+) )?import \(?(?P<names>[^()#]+)")
SYNTAX = frozenset(
    "import from const var let require use static as type pub crate self default".split()
)
# By name: the arguments of its calls ("" where it is not called), and the places of each.
Uses = dict[str, dict[str, list[tuple[str, int]]]]


def show_library_use(name: str, shapes: Mapping[str, list[tuple[str, int]]]) -> str:
    """`tabulate.tabulate(_, headers=) at sqlite_utils/cli.py:273, sqlite_utils/cli.py:2307`."""
    parts: list[str] = []
    for shape in sorted(shapes, key=lambda each: (-len(shapes[each]), each)):
        places = [f"{path}:{line}" for path, line in sorted(set(shapes[shape]))]
        shown = f"{'' if parts and shape else name}{shape or ' by name'}"
        parts.append(f"{shown} at {join_some(places, MOST_PLACES)}")
    more = (
        f" and {len(parts) - MOST_SHAPES} other calls" if len(parts) > MOST_SHAPES else ""
    )
    return f"{' | '.join(parts[:MOST_SHAPES])}{more}"


def find_library_uses(
    sources: Sources, packages: Collection[str]
) -> tuple[Uses, list[str]]:
    """The uses of a library by the names that its imports bind, most used first, and the places of the imports."""
    uses: Uses = {}
    imports: dict[str, None] = {}
    trees = Trees()
    pattern = re.compile(rf"(?<![\w.@/-])(?:{'|'.join(map(re.escape, packages))})(?![\w-])")
    for path, text in sources.texts.items():
        language = sources.language(path) or ""
        if language not in IMPORTS or not pattern.search(text):
            continue
        if not sources.has_time(path) or not is_parseable(text):
            continue
        root = trees.root(language, text)
        bound: dict[str, str] = {}
        inside: set[int] = set()
        for node in root.find_all(any=[{"kind": kind} for kind in IMPORTS[language]]):
            said = node.text()
            at = node.range()
            is_import = node.kind() != "variable_declarator" or "require(" in said
            if len(said) > CALL_CHARS or not is_import or not pattern.search(said):
                continue
            if names := dict(read_import(" ".join(said.split()), language, packages)):
                bound |= names
                inside |= set(range(at.start.index, at.end.index))
                imports[f"{path}:{at.start.line + 1}"] = None
        for node in root.find_all(
            any=[{"kind": kind} for kind in identifier_kinds(language)]
        ):
            if node.text() in bound and node.range().start.index not in inside:
                add_use(uses, node, bound[node.text()], path)
    # `import a.b` binds `a`, of which other modules are members too.
    roots = {each.partition(".")[0] for each in packages if "." in each}
    kept = [
        name
        for name in uses
        if name.partition(".")[0] not in roots or is_of(name, packages)
    ]
    kept.sort(key=lambda name: (-sum(map(len, uses[name].values())), name))
    return {name: uses[name] for name in kept}, list(imports)


def read_import(
    said: str, language: str, packages: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The names that an import of one of the packages binds, each with its full name in the library."""
    if language == "python":
        match = PYTHON.match(said)
        module = match["module"] if match else ""
        for part in match["names"].split(",") if match else ():
            name, _, alias = part.strip().partition(" as ")
            full = (
                f"{module}.{name}" if module else name if alias else name.partition(".")[0]
            )
            if is_of(f"{module}.{name}" if module else name, packages) and name != "*":
                yield alias or full.rpartition(".")[2], full
        return
    package = next((each for each in packages if each in said), "")
    last = re.split(r"[/.:]+", package.rstrip("./:*"))[-1]
    plain = re.sub(r"require\(.*?\)|'[^']*'|\"[^\"]*\"", "", said)
    names = [each for each in re.findall(r"[A-Za-z_$][\w$]*", plain) if each not in SYNTAX]
    if language == "go":
        yield (names[0] if names else last), last
    elif language in ("java", "rust"):
        head = (
            re.sub(r"^(?:import|static|pub|use|\s)+\b", "", said)
            .rstrip(";")
            .partition("{")[0]
        )
        dotted = head.replace("::", ".").rstrip(".*")
        for name in names if "{" in said else [dotted.rpartition(".")[2]]:
            yield name, f"{dotted}.{name}" if "{" in said else dotted
    else:
        braced = re.search(r"\{(.*?)\}", plain)
        member = re.search(r"require\([^)]*\)\.(\w+)", said)
        parts = [
            re.findall(r"[A-Za-z_$][\w$]*", part)
            for part in (braced[1] if braced else "").split(",")
        ]
        inner = {part[-1]: part[0] for part in parts if part}
        for name in names:
            behind = inner.get(name) or (member[1] if member else "")
            yield name, f"{last}.{behind}" if behind else last


def is_of(name: str, packages: Collection[str]) -> bool:
    return any(f"{name}.".startswith(f"{each}.") for each in packages)


def is_library(sources: Sources, name: str) -> bool:
    """Does a file import something of this name that is not a file or a folder of the repository?"""
    parts = {part for path in sources.texts for part in path.replace(".", "/").split("/")}
    if not re.fullmatch(r"@?[\w./-]+", name) or name in parts:
        return False
    quoted = rf"['\"]{re.escape(name)}['\"]"
    bare = rf"^[ \t]*(?:import|from|use|pub use) {re.escape(name)}(?![\w-])"
    line = re.compile(rf"{bare}|require\({quoted}\)|(?:from|import) {quoted}", re.MULTILINE)
    return any(
        line.search(sources.texts[path])
        for path in sources.mentioning(name)
        if sources.language(path)
    )


def add_use(uses: Uses, node: "SgNode", full: str, path: str) -> None:
    """Note a use: follow the members behind the name, and read the arguments if the whole is called."""
    parent = node.parent()
    here = node
    first = node.range().start
    if parent is not None and parent.kind() in JOINED and parent.range().start != first:
        return  # it is a member of something else
    while parent is not None and parent.kind() in JOINED and parent.range().start == first:
        here = parent
        parent = parent.parent()
    name = (
        full + re.sub(r"\s+|\?", "", here.text()).replace("::", ".")[len(node.text()) : 200]
    )
    shape = ""
    kind = parent.kind() if parent is not None else ""
    is_called = kind in CREATES or "call" in kind or kind == "method_invocation"
    if (
        parent is not None
        and is_called
        and (kind in CREATES or parent.range().start == first)
    ):
        arguments = parent.field("arguments")
        method = parent.field("name")
        name += (
            f".{method.text()}"
            if kind == "method_invocation" and method is not None
            else ""
        )
        shape = shape_of(arguments.text()[:CALL_CHARS]) if arguments is not None else "()"
    uses.setdefault(name, {}).setdefault(shape, []).append((path, first.line + 1))
