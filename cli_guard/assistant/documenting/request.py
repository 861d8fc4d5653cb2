"""What a request for documentation names, and where that is: files, folders, definitions, a style."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from cli_guard.assistant.documenting.source import LANGUAGES, Source, read_source
from cli_guard.assistant.requests import targets
from cli_guard.code.symbols import Symbol, is_test
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped

LONGEST_REQUEST = 4_000
MOST_CANDIDATES = 40
SHOWN = 4
UPDATE = re.compile(
    r"\b(updat\w*|outdated|out of date|stale|fix\w*|repair\w*|refresh\w*|correct\w*|sync\w*|bring up to date)\b",
    re.I,
)
PROSE = re.compile(
    r"\b(readmes?|sections?|tutorials?|guides?|changelogs?|manuals?|runbooks?|wiki|release notes)\b", re.I
)
KINDS = {
    "function": re.compile(
        r"\b(?:all|every|each|the|undocumented|public|private)\s+(?:\w+\s+)?(?:functions|methods)\b", re.I
    ),
    "class": re.compile(
        r"\b(?:all|every|each|the|undocumented|public|private)\s+(?:\w+\s+)?(?:classes|types)\b", re.I
    ),
    "module": re.compile(
        r"\b(?:module|file|package)(?:-level)?\s+(?:docstring|comment|doc|header|documentation)s?\b", re.I
    ),
}
PRIVATE = re.compile(r"\b(?:private|internal|non-public)\b", re.I)
EVERYTHING = re.compile(
    r"\b(?:everything|whole|entire|all|every|project|repo(?:sitory)?|codebase|code base|undocumented)\b", re.I
)
STYLE = re.compile(
    r"\b(google|numpy|sphinx|rest|restructuredtext|plain|one-line)(?:doc)?(?:[- ](?:style|format|docstrings?|docs))",
    re.I,
)
STYLES = {"rest": "sphinx", "restructuredtext": "sphinx", "one-line": "plain"}
TOOLS = {"javadoc": "java", "jsdoc": "javascript", "tsdoc": "typescript", "godoc": "go", "rustdoc": "rust"}
# The word behind is a name, however it is written; `missing` if nothing has it.
NAMED = re.compile(
    r"\b(?:class|function|method|func|def|struct|type|interface|enum|trait)\s+`?([A-Za-z_$][\w$]*)", re.I
)
# The word behind may be a name: it counts only where a definition has it.
MAYBE_NAMED = re.compile(
    r"\b(?:document|describe|annotate|explain|for|of|to)\s+(?:the\s+)?([A-Za-z_$][\w$]*)"
    r"|([A-Za-z_$][\w$]*)\s+(?:class|function|method)\b",
    re.I,
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
class Wanted:
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
    language: str = ""


def read_request(request: str, texts: Mapping[str, str]) -> Wanted:
    """Read a request in plain English about the files of a repository."""
    text = " ".join(request[:LONGEST_REQUEST].split())
    found = targets(text, texts)
    paths = [p for p in found.paths if LANGUAGES.get(PurePosixPath(p).suffix)]
    assumed = []
    for word, candidates in found.ambiguous:
        readable = [p for p in candidates if LANGUAGES.get(PurePosixPath(p).suffix)]
        ranked = sorted(readable, key=lambda p: (is_test(p), p.count("/"), p))
        paths += ranked[:1]
        assumed += [assumed_line(word, ranked)] if len(ranked) > 1 else []
    # A test is documented if it is named itself, not as a part of its folder.
    sources = [p for p in paths if not is_test(p) or PurePosixPath(p).name in text] or paths
    # `src/fixups.py` and `update_user` are no wish to mend anything.
    words = (word.strip(".,:;!?") for word in text.split())
    plain = " ".join(word for word in words if not re.search(r"[/_.()`:'\"]|[a-z][A-Z]", word))
    named = [n for n in NAMED.findall(text) if n[0].isupper() or n.lower() not in NO_NAMES]
    # `Store.c` may be a file of C, which is not documented here, and an attribute.
    missing = [*found.missing, *found.created, *found.outside]
    dotted = [
        n
        for n in missing
        if DOTTED.fullmatch(n) and PurePosixPath(n).suffix not in (*LANGUAGES, ".md", ".rst")
    ]
    names = [*found.symbols, *dotted, *(n for n in named if n in plain.split())]
    maybe = [a or b for a, b in MAYBE_NAMED.findall(plain)]
    kinds = frozenset(kind for kind, pattern in KINDS.items() if pattern.search(plain))
    style = STYLE.search(text)
    low = re.findall(r"\w+", plain.lower())
    readme = any(PurePosixPath(p).suffix in (".md", ".rst") for p in (*found.paths, *missing))
    return Wanted(
        paths=tuple(dict.fromkeys(sources)),
        names=tuple(dict.fromkeys(n.removesuffix("()") for n in names)),
        maybe=tuple(
            dict.fromkeys(word for word in maybe if word.lower() not in NO_NAMES and word not in names)
        ),
        missing=tuple(path for path in missing if path not in dotted),
        assumed=tuple(assumed),
        kinds=kinds | {"method"} if "function" in kinds else kinds,
        update=bool(UPDATE.search(plain)),
        private=bool(PRIVATE.search(plain)),
        everything=bool(EVERYTHING.search(plain)),
        prose=bool(PROSE.search(plain)) or readme,
        style=STYLES.get(style[1].lower(), style[1].lower()) if style else "",
        language=next((TOOLS[word] for word in low if word in TOOLS), ""),
    )


def assumed_line(name: str, candidates: list[str]) -> str:
    """Say which of several candidates a name is taken as."""
    rest = candidates[1 : 1 + SHOWN]
    more = f" and {len(candidates) - 1 - SHOWN} more" if len(candidates) > 1 + SHOWN else ""
    return f"{name} is taken as {candidates[0]}, not {', '.join(rest)}{more}"


def find_definitions(
    name: str, wanted: Wanted, texts: Mapping[str, str], trees: Trees
) -> tuple[list[tuple[Source, Symbol]], list[Skipped]]:
    """The definitions of a name, the one that is most likely meant first; and the files that cannot be read."""
    parts = re.split(r"\.|::|#", name)
    word = rf"(?<![\w$]){re.escape(parts[-1])}(?![\w$])"
    where = wanted.paths or sorted(texts, key=lambda p: (is_test(p), p))
    candidates = [p for p in where if LANGUAGES.get(PurePosixPath(p).suffix) and parts[-1] in texts[p]]
    family = {"javascript", "typescript", "tsx"} if wanted.language.endswith("script") else {wanted.language}
    fitting = [p for p in candidates if LANGUAGES[PurePosixPath(p).suffix] in family]
    candidates = fitting or candidates
    definition = re.compile(rf"\b{DEFINES}{word}|^[ \t]*(?:\w[\w<>\[\], ]* )?{word}\s*\(", re.M)
    candidates.sort(key=lambda p: not definition.search(texts[p]))
    hits: list[tuple[Source, Symbol]] = []
    skipped = []
    for path in candidates[:MOST_CANDIDATES]:
        source = read_source(path, texts[path], trees)
        if isinstance(source, Skipped):
            skipped.append(source)
            continue
        hits += [(source, s) for s in source.symbols if _is_named(s, parts)]
    classes = {(s.path, each.qualname) for s, each in hits if each.kind == "class"}
    # A constructor of the same name is part of its class.
    hits = [h for h in hits if (h[0].path, h[1].qualname.rpartition(".")[0]) not in classes] or hits
    return sorted(hits, key=lambda hit: _rank(hit, name)), skipped


def _is_named(symbol: Symbol, parts: list[str]) -> bool:
    if symbol.quiet in ("overload", "setter"):
        return False
    return symbol.qualname.split(".")[-len(parts) :] == parts or parts == [symbol.name]


def _rank(hit: tuple[Source, Symbol], name: str) -> tuple[bool, bool, bool, int, str, int]:
    source, symbol = hit
    depth = source.path.count("/")
    return is_test(source.path), symbol.qualname != name, not symbol.public, depth, source.path, symbol.line
