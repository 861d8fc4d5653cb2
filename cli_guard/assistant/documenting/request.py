"""What a request for documentation names, and where that is: files, folders, definitions, a style."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from cli_guard.assistant.documenting.source import Source, find_language, read_source
from cli_guard.assistant.request_names import find_names
from cli_guard.code.symbols import Symbol
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import is_test_code
from cli_guard.model import Skipped

LONGEST_REQUEST = 4_000
MOST_CANDIDATES = 40
SHOWN = 4
PAGES = (".md", ".rst")
UPDATE = re.compile(
    r"(?i)\b(?:updat\w*|outdated|out of date|stale|fix\w*|repair\w*|refresh\w*|correct\w*|sync\w*|up to date)\b"
)
PROSE = re.compile(
    r"(?i)\b(?:readmes?|sections?|tutorials?|guides?|changelogs?|manuals?|runbooks?|wiki|release notes)\b"
)
MANY = r"(?i)\b(?:all|every|each|the|undocumented|public|private)\s+(?:\w+\s+)?"
KINDS = {
    "function": re.compile(MANY + r"(?:functions|methods)\b"),
    "class": re.compile(MANY + r"(?:classes|types)\b"),
    "module": re.compile(r"(?i)\b(?:module|file|package)(?:-level)?\s+(?:docstring|comment|doc|header)"),
}
PRIVATE = re.compile(r"(?i)\b(?:private|internal|non-public)\b")
EVERYTHING = re.compile(
    r"(?i)\b(?:everything|whole|entire|all|every|project|repo(?:sitory)?|codebase|code base|undocumented)\b"
)
STYLE = re.compile(
    r"(?i)\b(google|numpy|sphinx|rest|restructuredtext|plain|one-line)(?:doc)?[- ](?:style|format|docstrings?|docs)"
)
STYLES = {"rest": "sphinx", "restructuredtext": "sphinx", "one-line": "plain"}
# The word behind is a name, missing if nothing has it.
NAMED = re.compile(
    r"(?i)\b(?:class|function|method|func|def|struct|type|interface|enum|trait)\s+([A-Za-z_$][\w$]*)"
)
# The word behind may be a name: it counts only where a definition has it.
MAYBE_NAMED = re.compile(
    r"(?i)\b(?:document|describe|annotate|explain|for|of|to)\s+(?:the\s+)?([A-Za-z_$][\w$]*)"
    r"|([A-Za-z_$][\w$]*)\s+(?:class|function|method)\b"
)
NO_NAMES = frozenset(
    "a an the this that these it its all any each every everything my our their me us please documentation docs"
    " docstring docstrings function functions class classes method methods type types module modules file files"
    " folder project package public private undocumented missing whole entire code parameters in of for and"
    " python java javascript typescript go rust javadoc jsdoc tsdoc godoc rustdoc".split()
)
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
DEFINES = r"(?:def|class|func|function|fn|struct|enum|trait|type|interface|record|const|let)\b[^\n]{0,80}"


@dataclass(frozen=True, slots=True)
class DocRequest:
    """A request as it was read: `paths` are known files, `names` of definitions.

    `maybe` are words that may be names; `kinds` is empty for all; `style` is one of Python's docstrings;
    `prose` asks for text that no signature shows.
    """

    paths: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    update: bool = False
    private: bool = False
    everything: bool = False
    prose: bool = False
    style: str = ""


def read_request(request: str, texts: Mapping[str, str]) -> DocRequest:
    """Read a request in plain English about the files of a repository."""
    text = " ".join(request[:LONGEST_REQUEST].split())
    found = find_names(text, texts)
    paths = [p for p in found.paths if find_language(p)]
    assumed = []
    for word, candidates in found.ambiguous:
        ranked = sorted(filter(find_language, candidates), key=lambda p: (is_test_code(p), p.count("/"), p))
        paths += ranked[:1]
        assumed += [explain_choice(word, ranked)] if len(ranked) > 1 else []
    # A test is documented if it is named itself, not as a part of its folder.
    sources = [p for p in paths if not is_test_code(p) or PurePosixPath(p).name in text] or paths
    # `src/fixups.py` and `update_user` do not ask for a repair.
    words = (word.strip(".,:;!?") for word in text.split())
    plain = " ".join(word for word in words if not re.search(r"[/_.()`:'\"]|[a-z][A-Z]", word))
    named = [n for n in NAMED.findall(plain) if n[0].isupper() or n.lower() not in NO_NAMES]
    # `Store.c` may be a file of C, which is not documented here, and an attribute.
    missing = [*found.missing, *found.created, *found.outside]
    dotted = [n for n in missing if DOTTED.fullmatch(n) and not (find_language(n) or n.endswith(PAGES))]
    names = [*found.symbols, *dotted, *named]
    maybe = [a or b for a, b in MAYBE_NAMED.findall(plain)]
    kinds = frozenset(kind for kind, pattern in KINDS.items() if pattern.search(plain))
    style = STYLE.search(text)
    readme = any(p.endswith(PAGES) for p in (*found.paths, *missing))
    return DocRequest(
        paths=tuple(dict.fromkeys(sources)),
        names=tuple(dict.fromkeys(n.removesuffix("()") for n in names)),
        maybe=tuple(dict.fromkeys(n for n in maybe if n.lower() not in NO_NAMES and n not in names)),
        missing=tuple(path for path in missing if path not in dotted),
        assumed=tuple(assumed),
        kinds=kinds | {"method"} if "function" in kinds else kinds,
        update=bool(UPDATE.search(plain)),
        private=bool(PRIVATE.search(plain)),
        everything=bool(EVERYTHING.search(plain)),
        prose=bool(PROSE.search(plain)) or readme,
        style=STYLES.get(style[1].lower(), style[1].lower()) if style else "",
    )


def explain_choice(name: str, candidates: list[str]) -> str:
    """State which of several candidates a name is taken as."""
    rest = candidates[1 : 1 + SHOWN]
    more = f" and {len(candidates) - 1 - SHOWN} more" if len(candidates) > 1 + SHOWN else ""
    return f"{name} is taken as {candidates[0]}, not {', '.join(rest)}{more}"


def find_definitions(
    name: str, wanted: DocRequest, texts: Mapping[str, str], trees: Trees
) -> tuple[list[tuple[Source, Symbol]], list[Skipped]]:
    """Find the definitions of a name, the most likely first; and the files that cannot be read."""
    parts = re.split(r"\.|::|#", name)
    word = rf"(?<![\w$]){re.escape(parts[-1])}(?![\w$])"
    where = wanted.paths or sorted(texts, key=lambda p: (is_test_code(p), p))
    candidates = [p for p in where if find_language(p) and parts[-1] in texts[p]]
    definition = re.compile(rf"\b{DEFINES}{word}")
    candidates.sort(key=lambda p: not definition.search(texts[p]))
    hits: list[tuple[Source, Symbol]] = []
    skipped = []
    for path in candidates[:MOST_CANDIDATES]:
        source = read_source(path, texts[path], trees)
        if isinstance(source, Skipped):
            skipped.append(source)
            continue
        hits += [(source, s) for s in source.symbols if _is_named(s, parts)]
    return sorted(hits, key=lambda hit: _rank(hit, name)), skipped


def _is_named(symbol: Symbol, parts: list[str]) -> bool:
    # A constructor of the same name is part of its class.
    if symbol.quiet in ("overload", "setter") or symbol.name == symbol.owner:
        return False
    return symbol.qualname.split(".")[-len(parts) :] == parts or parts == [symbol.name]


def _rank(hit: tuple[Source, Symbol], name: str) -> tuple[bool, bool, bool, int, str, int]:
    source, symbol = hit
    depth = source.path.count("/")
    return (
        is_test_code(source.path),
        symbol.qualname != name,
        not symbol.public,
        depth,
        source.path,
        symbol.line,
    )
