"""Finds what a request names: files and folders by path, definitions by name, in the order of their paths."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cli_guard.assistant.documenting.sources import LANGUAGES, Source, read_source
from cli_guard.assistant.documenting.wanted import Wanted
from cli_guard.code.symbols import Symbol, is_test
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped

MOST_FILES = 60
MOST_CANDIDATES = 40
SHOWN = 4


@dataclass
class Found:
    """What was found so far. `whole` are files to be documented as they are, `single` definitions by name."""

    whole: list[Source] = field(default_factory=list)
    single: list[tuple[Source, Symbol]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def find(wanted: Wanted, texts: Mapping[str, str], trees: Trees) -> Found:
    """The sources and definitions that a request names."""
    found = Found()
    files: list[str] = []
    symbols = list(wanted.symbols)
    for name in wanted.paths:
        matched = _paths(name, texts, found)
        if not matched and "." in name and "/" not in name:
            symbols.append(name)
        elif not matched:
            found.missing.append(f"{name}: there is no such file or folder here")
        files += matched
    for name in list(symbols):
        module = _module(name, texts)
        if module and (not files or "." in name):
            files.append(module)
            symbols.remove(name)
    files = list(dict.fromkeys(files))
    if symbols:
        for name in dict.fromkeys(symbols):
            _symbol(name, files, wanted, texts, trees, found)
        return found
    if not wanted.paths and not wanted.symbols and wanted.everything:
        files = [p for p in sorted(texts) if not is_test(p)]
    _whole(files, wanted, texts, trees, found)
    return found


def _whole(files: list[str], wanted: Wanted, texts: Mapping[str, str], trees: Trees, found: Found) -> None:
    readable = [p for p in files if PurePosixPath(p).suffix in LANGUAGES]
    if wanted.language and len(files) > 1:
        readable = [p for p in readable if LANGUAGES[PurePosixPath(p).suffix] == wanted.language]
    for path in readable[:MOST_FILES]:
        source = read_source(path, texts[path], trees)
        if isinstance(source, Skipped):
            found.skipped.append(source)
        else:
            found.whole.append(source)
    if len(readable) > MOST_FILES:
        reason = f"{len(readable) - MOST_FILES} more files from here on: name a folder or a file"
        found.skipped.append(Skipped(readable[MOST_FILES], reason, by_limit=True))
    if len(files) == 1 and not readable:
        found.skipped.append(Skipped(files[0], "not in a language that is documented here"))


def _paths(name: str, texts: Mapping[str, str], found: Found) -> list[str]:
    clean = name.removeprefix("./")
    while clean.startswith("/"):
        clean = clean[1:]
    if clean in texts:
        return [clean]
    folder = clean.rstrip("/") + "/"
    inside = sorted(p for p in texts if p.startswith(folder))
    if inside:
        return [p for p in inside if not is_test(p)] or inside
    ends = sorted((p for p in texts if p.endswith(f"/{clean}")), key=lambda p: (is_test(p), p.count("/"), p))
    if ends:
        if len(ends) > 1:
            found.assumed.append(_assumed(clean, ends))
        return ends[:1]
    if not clean.strip("/"):
        return []
    around = sorted(p for p in texts if f"/{folder}" in p)
    if around:
        root = around[0].split(f"/{folder}")[0] + f"/{folder}"
        return [p for p in around if p.startswith(root) and not is_test(p)]
    return []


def _assumed(name: str, candidates: list[str]) -> str:
    rest = candidates[1 : 1 + SHOWN]
    more = f" and {len(candidates) - 1 - SHOWN} more" if len(candidates) > 1 + SHOWN else ""
    return f"{name} is taken as {candidates[0]}, not {', '.join(rest)}{more}"


def _module(name: str, texts: Mapping[str, str]) -> str:
    """`app.config` -> app/config.py; a bare word only if just one file has that stem."""
    base = name.replace("::", "/").replace(".", "/")
    for path in (f"{base}.py", f"{base}/__init__.py", f"src/{base}.py", f"src/{base}/__init__.py"):
        if path in texts:
            return path
    return ""


def _symbol(
    name: str, files: list[str], wanted: Wanted, texts: Mapping[str, str], trees: Trees, found: Found
) -> None:
    parts = re.split(r"\.|::|#", name)
    word = re.compile(rf"(?<![\w$]){re.escape(parts[-1])}(?![\w$])")
    where: Iterable[str] = files or sorted(texts, key=lambda p: (is_test(p), p))
    candidates = [p for p in where if PurePosixPath(p).suffix in LANGUAGES and parts[-1] in texts[p]]
    if wanted.language:
        fitting = [p for p in candidates if _speaks(p, wanted.language)]
        candidates = fitting or candidates
    definition = re.compile(
        rf"\b(?:def|class|func|function|fn|struct|enum|trait|type|interface|record|const|let)\b[^\n]{{0,80}}{word.pattern}"
    )
    candidates.sort(key=lambda p: not definition.search(texts[p]))
    hits: list[tuple[Source, Symbol]] = []
    for path in candidates[:MOST_CANDIDATES]:
        source = read_source(path, texts[path], trees)
        if isinstance(source, Skipped):
            found.skipped.append(source)
            continue
        hits += [
            (source, s) for s in source.symbols if _is(s, parts) and s.quiet not in ("overload", "setter")
        ]
    if not hits:
        place = f" in {files[0]}" if len(files) == 1 else ""
        found.missing.append(f"{name}: no definition of that name{place} in a language that is read here")
        return
    types = {(s.path, each.qualname) for s, each in hits if each.kind == "class"}
    # A constructor is part of its class.
    hits = [h for h in hits if (h[0].path, h[1].qualname.rpartition(".")[0]) not in types] or hits
    hits.sort(key=lambda hit: _rank(hit, parts))
    best = hits[0]
    others = [f"{s.path}:{each.line}" for s, each in hits[1:]]
    if others:
        found.assumed.append(_assumed(name, [f"{best[0].path}:{best[1].line}", *others]))
    found.single.append(best)


def _speaks(path: str, language: str) -> bool:
    own = LANGUAGES[PurePosixPath(path).suffix]
    return own == language or {own, language} <= {"javascript", "typescript", "tsx"}


def _is(symbol: Symbol, parts: list[str]) -> bool:
    own = symbol.qualname.split(".")
    return own[-len(parts) :] == parts or (symbol.name == parts[-1] and len(parts) == 1)


def _rank(hit: tuple[Source, Symbol], parts: list[str]) -> tuple[bool, bool, bool, int, str, int]:
    source, symbol = hit
    exact = symbol.qualname == ".".join(parts)
    return (
        is_test(source.path),
        not exact,
        not symbol.public,
        source.path.count("/"),
        source.path,
        symbol.line,
    )
