"""Explains a file or a folder: what it says of itself, its public names, its imports, its importers, its tests."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cli_guard.assistant.projects import tests_for
from cli_guard.assistant.replies import count_of, first_of
from cli_guard.assistant.retrieval.path_kinds import kind_of
from cli_guard.code.definitions import (
    Definition,
    definition_nodes,
    find_definitions,
    is_parseable,
)
from cli_guard.code.file_imports import ImportGraph
from cli_guard.code.languages import language_for
from cli_guard.code.symbols import LANGUAGES, Symbol, symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import is_test_file, is_test_or_example
from cli_guard.rules.catalog import read_patterns

SAID = read_patterns("languages/patterns.toml", "purpose")
OPENING_LINES = 120
LONGEST_LINE = 500
SENTENCE = 220
DOCUMENTS = (".md", ".rst", ".txt", ".adoc")
PATTERNS = read_patterns("languages/patterns.toml", "explaining")
MOST_LINES = 40
NAMES = 14
LISTED = 8
TESTS = 3
SIGNATURE = 110
# How much of the files that may define a name is parsed.
MOST_CHARS = 3_000_000
LINE_CHARS = 400
CODE = frozenset("function class method type constant interface enum struct trait".split())
FRONTS = "README.md README.rst __init__.py mod.rs lib.rs doc.go index.js index.ts".split()
HEAD_END = re.compile(r"\s*(?:[:{]|=>\s*\{|\{ *\}?)$")
# Without the library, a definition of the same name stands in for it.
FALLBACKS = frozenset(("except_clause", "except_group_clause"))


def read_purpose(path: str, text: str) -> str:
    """Return the first paragraph that a file says of itself, at most 440 characters; "" if it says nothing."""
    lines = [
        line[:LONGEST_LINE]
        for line in text[: OPENING_LINES * LONGEST_LINE].split("\n")[:OPENING_LINES]
    ]
    if path.lower().endswith(DOCUMENTS):
        return clip(read_document(path, lines), 2 * SENTENCE)
    comment: list[str] = []
    closing = ""
    for line in lines:
        bare = line.strip()
        begins = (
            SAID["docstring"].match(bare)
            if not comment and language_for(path) == "python"
            else None
        )
        if closing or begins:
            mark = closing or (begins[1] if begins else "")
            behind = bare if closing else bare.partition(mark)[2]
            closing = "" if mark in behind else mark
            comment.append(bare)
            if not closing:
                break
        elif SAID["comment"].match(bare):
            comment.append(bare)
        elif bare or comment:
            if first_paragraph(comment) or (bare and not SAID["preamble"].match(bare)):
                break
            comment = []
    return clip(first_paragraph(comment), 2 * SENTENCE)


def read_document(path: str, lines: Sequence[str]) -> str:
    """Return the first heading of a document, and the first sentence of its text."""
    text = "\n".join(lines)
    headings = (
        each.name for each in find_definitions(path, text) if each.kind == "heading"
    )
    head = SAID["markup"].sub("", next(headings, "")).strip()
    plain = (SAID["markup"].sub("", line).strip() for line in lines)
    sentences = (
        line for line in plain if len(line.split()) > 3 and line[0] not in "#|:<[.=-"
    )
    prose = next((line for line in sentences if line != head), "")
    return ". ".join(filter(None, (head, first_sentence(prose))))


def first_paragraph(comment: Iterable[str]) -> str:
    """Return the first paragraph of a comment or docstring, without its marks and what is no word about the code."""
    words: list[str] = []
    for line in comment:
        plain = SAID["leader"].sub("", SAID["leader"].sub("", line[:LONGEST_LINE])).strip()
        if SAID["boilerplate"].search(line) or not plain.strip("#/*-=~ "):
            if words:
                break
            continue
        words.append(SAID["role"].sub(r"\1", plain))
    return " ".join(words)


def first_sentence(text: str) -> str:
    """Return the first sentence of a paragraph, at most 220 characters."""
    found = SAID["sentence"].match(text)
    return clip(found[1] if found else text, SENTENCE)


def clip(text: str, most: int) -> str:
    """Cut a text between words."""
    return text if len(text) <= most else text[: most - 4].rpartition(" ")[0] + " ..."


class Explainer:
    """The files of a repository (path -> text), read as far as an explanation needs them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.imports = ImportGraph(texts)
        self._trees = Trees()
        # Not all files were read: there are too many.
        self.is_cut = False

    def find_definitions(
        self, name: str, near: Sequence[str] = ()
    ) -> list[tuple[str, Definition]]:
        """Find the definitions of a name, which may be dotted: first in a path that is meant, then in the source."""
        parts = re.split(r"\.|::|#", name.removesuffix("()"))
        places = []
        left = MOST_CHARS
        # The source first, so that a test is what is left out.
        for path in sorted(self.texts, key=is_test_or_example):
            if may_define(parts[-1], path, self.texts[path]):
                left -= len(self.texts[path])
                self.is_cut = self.is_cut or left < 0
                found = () if self.is_cut else self.definitions(path)
                named = (e for e in found if e.qualname.split(".")[-len(parts) :] == parts)
                places += [(path, each) for each in named if each.kind in CODE]

        def order(place: tuple[str, Definition]) -> tuple[object, ...]:
            path, each = place
            is_meant = any(word in path.lower() for word in near)
            side = (
                is_test_or_example(path),
                kind_of(path) != "source",
                each.kind == "constant",
            )
            return not is_meant, *side, path.count("/"), path

        return sorted(places, key=order)

    def definitions(self, path: str) -> Sequence[Definition]:
        """Return the definitions of a file, without those that stand in for a missing library."""
        text = self.texts[path]
        stubs = set()
        if "ImportError" in text or "ModuleNotFoundError" in text:
            stubs = {each.line for each in self.symbols(path) if is_fallback(each)}
        return [each for each in find_definitions(path, text) if each.line not in stubs]

    def symbols(self, path: str) -> tuple[Symbol, ...]:
        """Return the functions and classes of a file with their documentation, where the language has a reader."""
        return read_symbols(self._trees, path, self.texts[path])

    def explain_folder(self, path: str) -> Iterator[str]:
        """Yield what a folder is for, and its files with theirs; `path` ends in a slash, "" is the top."""
        inside = sorted(each for each in self.texts if each.startswith(path))
        front = next(
            (f"{path}{each}" for each in FRONTS if f"{path}{each}" in self.texts), ""
        )
        purpose = self.purpose(front) if front else ""
        yield f"{path or './'} ({count_of(len(inside), 'file')})" + (
            f": {purpose}" if purpose else ""
        )
        rows = list(
            dict.fromkeys(f"{path}{each[len(path) :].partition('/')[0]}" for each in inside)
        )
        for each in rows[: MOST_LINES - 4]:
            says = (
                self.purpose(each) or next(self.list_names(each), "").strip()
                if each in self.texts
                else ""
            )
            folder = "" if each in self.texts else "/"
            yield f"  {each}{folder}" + (f": {first_sentence(says)}" if says else "")
        if len(rows) > MOST_LINES - 4:
            yield f"  and {len(rows) - MOST_LINES + 4} more"

    def explain_file(self, path: str) -> Iterator[str]:
        """Yield what a file is for, its names, what it imports, what imports it, and its tests."""
        lines = count_of(len(self.texts[path].splitlines()), "line")
        purpose = self.purpose(path)
        yield f"{path} ({lines})" + (f": {purpose}" if purpose else "")
        yield from self.list_names(path)
        found = self.imports.imports_of(path)
        importers = sorted(
            self.imports.importers_of(path),
            key=lambda each: (is_test_or_example(each), each),
        )
        rows = (
            ("imports", found.inside),
            ("from outside", found.outside),
            ("imported by", importers),
        )
        yield from (
            f"  {label}: {first_of(items, LISTED)}" for label, items in rows if items
        )
        yield from self.list_tests(path)

    def purpose(self, path: str) -> str:
        """Return what a file says of itself."""
        said = (
            PATTERNS["described"].search(self.texts[path][:4_000])
            if kind_of(path) != "source"
            else None
        )
        return said[1] if said else read_purpose(path, self.texts[path])

    def list_names(self, path: str) -> Iterator[str]:
        """Yield the public names of a file in order, each with the first sentence of its documentation."""
        docs = {each.line: each for each in self.symbols(path)}
        top = [each for each in self.definitions(path) if "." not in each.qualname]
        code = [each for each in top if each.kind in CODE]
        if (
            exported := [*self.imports.python.exports_of(path)]
            if path.endswith("/__init__.py")
            else []
        ):
            yield f"  re-exports: {first_of(exported, NAMES)}"
        if top and not code:
            yield f"  holds: {first_of(list(dict.fromkeys(each.name for each in top)), NAMES)}"
        own = [each for each in code if each.kind != "constant" and each.name[:2] != "__"]
        public = [each for each in own if each.line not in docs or docs[each.line].public]
        shown = list({each.name: each for each in public or own}.values())
        for each in shown[:NAMES]:
            yield f"  line {each.line}: {symbol_text(self.signature(path, each), docs.get(each.line))}"
            methods = (s for s in docs.values() if s.is_function)
            members = (s.name for s in methods if s.qualname == f"{each.qualname}.{s.name}")
            if inner := list(dict.fromkeys(members)):
                yield f"    methods: {first_of(inner, NAMES)}"
        if len(shown) > NAMES:
            yield f"  and {len(shown) - NAMES} more: {first_of([each.name for each in shown[NAMES:]], NAMES)}"
        named = (each for each in code if each.kind == "constant" and len(each.name) > 1)
        constants = {each.name: each for each in named if each.name[0] != "_"}
        if len(constants) + len(shown) <= NAMES:
            yield from (
                f"  line {e.line}: {self.signature(path, e)}" for e in constants.values()
            )
        elif constants:
            yield f"  constants: {first_of([*constants], NAMES)}"

    def signature(self, path: str, definition: Definition) -> str:
        """Return the head of a definition on one line."""
        head = signature_of(self.texts[path], definition, self.symbols(path))
        return head.removeprefix("export ").removeprefix("default ")

    def list_tests(self, path: str, symbols: Sequence[str] = ()) -> Iterator[str]:
        """Yield the tests that cover a file or names of it."""
        tests = [
            each
            for each in tests_for([path], symbols, self.texts).tests
            if each.path != path
        ]
        shown = [
            each.path + (f" ({first_of(each.names, 2)})" if each.names else "")
            for each in tests
        ]
        # For other languages than Python, tests are found by their names; they may import it all the same.
        shown = shown or [
            each for each in self.imports.importers_of(path) if is_test_file(each)
        ]
        if shown:
            yield f"  tests: {first_of(shown, TESTS)}"


def read_symbols(trees: Trees, path: str, text: str) -> tuple[Symbol, ...]:
    language = language_for(path)
    if language not in LANGUAGES or not is_parseable(text):
        return ()
    return symbols_of(trees, language, text)


def signature_of(text: str, definition: Definition, symbols: Iterable[Symbol]) -> str:
    """Return the head of a definition on one line; `symbols` are those of its file, without which it is one line."""
    symbol = next((each for each in symbols if each.line == definition.line), None)
    end = max(symbol.head_end, definition.line) if symbol else definition.line
    words = " ".join(text.split("\n")[definition.line - 1 : end]).split()
    head = " ".join(words).replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return clip(HEAD_END.sub("", head), SIGNATURE)


def symbol_text(head: str, symbol: Symbol | None) -> str:
    """Return a head and the first sentence of its documentation."""
    said = (
        first_sentence(first_paragraph(symbol.doc.text.split("\n")))
        if symbol and symbol.doc
        else ""
    )
    return f"{head} - {said}" if said else head


def may_define(name: str, path: str, text: str) -> bool:
    """Return whether a line of code looks like the definition of a name: only such files are worth parsing."""
    if name not in text or language_for(path) not in definition_nodes():
        return False
    form = re.compile(PATTERNS["defines"].pattern.replace("NAME", re.escape(name)))
    return any(form.search(line[:LINE_CHARS]) for line in text.split("\n") if name in line)


def is_fallback(symbol: Symbol) -> bool:
    """Return whether a definition only stands in where an import fails."""
    node = symbol.node.parent() if symbol.node else None
    while node and node.kind() not in FALLBACKS:
        node = node.parent()
    return node is not None
