"""One definition or module: its draft, put into the form of its file, at its place."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from cli_guard.assistant.documenting.block_text import comment
from cli_guard.assistant.documenting.classes import class_draft, type_draft
from cli_guard.assistant.documenting.drafts import Draft, function_draft
from cli_guard.assistant.documenting.model import Kind, Proposal
from cli_guard.assistant.documenting.modules import module_draft, package_draft
from cli_guard.assistant.documenting.places import Edit, module_doc
from cli_guard.assistant.documenting.python_text import Form, docstring
from cli_guard.assistant.documenting.sources import Source
from cli_guard.assistant.documenting.wanted import Wanted
from cli_guard.code.symbols import Symbol
from cli_guard.secrets.redact import redact

GROUNDS = 12
PACKAGE = re.compile(r"^package \w+", re.M)
PACKAGE_COMMENT = re.compile(r"(?:^//[^\n]*|\*/[ \t\r]*)\n^package \w", re.M)
# Why documentation is not expected, and why it is left out even where all of a file is asked for.
LEFT = frozenset({"nested", "override", "overload", "setter", "commented", "called by a framework"})
HEADER = (
    "#!",
    "# -*-",
    "# vim",
    "# coding",
    "# copyright",
    "# spdx",
    "# license",
    "# (c)",
    "# author",
    "# this file is",
)


def expected(symbol: Symbol, wanted: Wanted) -> bool:
    """Is it to be documented when the whole file is asked for?"""
    if symbol.quiet in LEFT or (wanted.kinds and symbol.kind not in wanted.kinds):
        return False
    if symbol.name == "constructor" or (symbol.name.startswith("__") and symbol.name.endswith("__")):
        return False
    return symbol.public or wanted.private


def lacks_module_doc(source: Source, texts: Mapping[str, str]) -> bool:
    """Has a Python module no docstring, or a Go package no comment in any of its files, this being the first?"""
    if source.language == "go":
        folder = source.path.rpartition("/")[0]
        files = sorted(p for p in texts if p.endswith(".go") and p.rpartition("/")[0] == folder)
        package = [p for p in files if not p.endswith("_test.go")]
        library = bool(PACKAGE.search(source.text)) and not re.search(r"^package main\b", source.text, re.M)
        return (
            library
            and package[:1] == [source.path]
            and not any(PACKAGE_COMMENT.search(texts[p]) for p in package)
        )
    return source.language == "python" and not module_doc(source, source.text) and bool(source.text.strip())


def proposed(source: Source, symbol: Symbol, form: Form) -> tuple[Proposal, Edit] | None:
    """The documentation of one definition; None where there is no line for it."""
    if source.language != "python":
        return _above(source, symbol, form)
    parameters = symbol.node.field("parameters") if symbol.node is not None else None
    if symbol.body <= symbol.head_end or (parameters is not None and not parameters.text().endswith(")")):
        return None
    draft = (
        class_draft(symbol, source.symbols, source.text)
        if symbol.kind == "class"
        else function_draft(symbol, source.language)
    )
    first = source.lines[symbol.body - 1]
    indent = first[: len(first) - len(first.lstrip())]
    lines = docstring(draft, form, indent)
    following = source.lines[symbol.head_end].strip() if symbol.head_end < len(source.lines) else ""
    shown = [*lines, ""] if symbol.kind == "class" and following else lines
    kind: Kind = "class" if symbol.kind == "class" else "method" if symbol.kind == "method" else "function"
    return _pair(source, symbol.head_end + 1, symbol.qualname, kind, lines, shown, draft)


def _above(source: Source, symbol: Symbol, form: Form) -> tuple[Proposal, Edit]:
    draft = (
        type_draft(symbol, source.symbols, source.language)
        if symbol.kind == "class"
        else function_draft(symbol, source.language)
    )
    first = source.lines[symbol.top - 1]
    lines = comment(source.language, symbol, draft, form, first[: len(first) - len(first.lstrip())])
    kind: Kind = "class" if symbol.kind == "class" else "method" if symbol.kind == "method" else "function"
    return _pair(source, symbol.top, symbol.qualname, kind, lines, lines, draft)


def module_proposed(source: Source, form: Form) -> tuple[Proposal, Edit] | None:
    """The docstring of a Python module, below the remarks at its head; the comment of a Go package."""
    if source.language == "go":
        return _package(source, form)
    pure = PurePosixPath(source.path)
    stem = pure.parent.name if pure.stem == "__init__" and pure.parent.name else pure.stem
    draft = module_draft(stem, source.symbols, source.trees.root("python", source.text), source.text)
    if draft.summary.count(" ") < 3 and not draft.sentences and "`" not in draft.summary:
        return None  # the name of the file, and nothing else
    at = 0
    if any(source.lines[0].lower().startswith(start) for start in HEADER):
        while at < len(source.lines) and source.lines[at].startswith("#"):
            at += 1
    lines = docstring(draft, form, "")
    following = source.lines[at].strip() if at < len(source.lines) else ""
    shown = [*([""] if at > 1 else []), *lines, *([""] if following else [])]
    return _pair(source, at + 1, "", "module", lines, shown, draft)


def _package(source: Source, form: Form) -> tuple[Proposal, Edit]:
    clause = next(
        (c for c in source.trees.root("go", source.text).named_children() if c.kind() == "package_clause"),
        None,
    )
    at = clause.range().start.line + 1 if clause is not None else 1
    name = clause.text().split()[-1] if clause is not None else ""
    draft = package_draft(name, source.symbols, at)
    lines = comment("go", source.symbols[0], draft, form, "") if source.symbols else [f"// {draft.summary}"]
    return _pair(source, at, "", "module", lines, lines, draft)


def _pair(
    source: Source, line: int, symbol: str, kind: Kind, lines: list[str], shown: list[str], draft: Draft
) -> tuple[Proposal, Edit]:
    grounds = tuple(f"{source.path}:{each}" for each in draft.lines[:GROUNDS])
    text = "\n".join(lines)
    proposal = Proposal(source.path, line, symbol, kind, redact(text, source.path), draft.note, grounds)
    return proposal, Edit(line, tuple(shown), module=kind == "module")
