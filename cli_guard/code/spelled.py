"""Spell out imported names: after `from os import system as run`, `run(x)` becomes `os.system(x)`.

So a rule that knows `os.system` knows it by each name. Only names in use change: where they are called, where a member
of them is taken, and where they are handed over; every line keeps its number.
"""

import builtins
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cli_guard.code.syntax import Trees
from cli_guard.code.taint.grammar import language_named
from cli_guard.code.taint.naming import imports_of
from cli_guard.words import words_in

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# Lines that may give another name, and those among them that give none: what has no other is not parsed for it.
NAMER = re.compile(
    r"(?:from(?<!\wfrom)|import(?<!\wimport)|us(?:e|ing)(?<!\wuse)(?<!\wusing)|require(?<!\wrequire))\b"
)
NAMING = re.compile(
    r"[^\n]*\b(?:from|import|use|using|require)\b(?:[^\n({]*[({][^)}]{0,4000})?[^\n]*"
)
PLAIN = re.compile(r"\s*(?:import|using)\s+(?!static\b)(?:(?! as )[\w., ])+;?\s*\Z")
# A name for a member of something: `run = os.system`.
RENAMING = re.compile(
    r"(?m)^[ \t]*(?:(?:const|let|var|final|val)[ \t]+)?(\w+)[ \t]*=[ \t]*([A-Za-z_]\w*(?:\.\w+)+)[ \t]*+;?[ \t]*$"
)
# What ends each such line.
MEMBER = re.compile(r"(?m)=[ \t]*[A-Za-z_][\w.]*\.(\w+)[ \t]*+;?[ \t]*$")
WORD = re.compile(r"\w+")
# Languages in which the name of a type is enough, and its package is left out.
BY_TYPE = ("java", "kotlin", "scala", "csharp")
# What a file calls by a bare name, and what it gives that name itself.
CALLED = re.compile(r"(?<![\w.])(\w+)\(")
DEFINED = re.compile(r"\b(?:(?:def|func|function|class)\s+(?=\w)|(?=\w+\s*:?=))(\w+)")
BUILT_IN = frozenset(dir(builtins))
ARGUMENTS = ("arguments", "argument_list", "argument", "keyword_argument", "pair")
MOST_NAMES = 500


def may_rename(text: str, language: str, known: frozenset[str]) -> bool:
    """Return whether a text may give another name to what a `known` word names."""
    if not language_named(language).imports:
        return False
    # Most texts have none of them, and no line is looked at.
    if known.isdisjoint(words_in(text).split()):
        return False
    lines = (line for line in find_naming_lines(text) if not PLAIN.match(line))
    words = {word for line in lines for word in WORD.findall(line)}
    if not known.isdisjoint(MEMBER.findall(text)):
        words.update(name.rpartition(".")[2] for _, name in RENAMING.findall(text))
    return not words.isdisjoint(known)


def find_naming_lines(text: str) -> Iterator[str]:
    """Yield the lines with such a word, each with what it puts in brackets; a word is found faster than a line."""
    end = 0
    for found in NAMER.finditer(text):
        start = text.rfind("\n", 0, found.start()) + 1
        line = NAMING.match(text, start) if start >= end else None
        if line:
            end = line.end()
            yield line[0]


def spell_out(trees: Trees, language: str, text: str, known: frozenset[str]) -> str:
    """Return a text with those names written out whose last part, or whose module, is a `known` word.

    Raises ValueError as `Trees.root` does.
    """
    root = trees.root(language, text)
    imported = imports_of(root, language, text)
    renamed = RENAMING.findall(text)
    names = dict(_other_names(imported, renamed, known, language))
    for name in imported.values():
        if name.endswith(".*") and name.split(".")[-2] in known:
            names = dict(_opened_names(name, text, known, language)) | names
    values = frozenset(local for local, _ in renamed)
    edits = [
        node.replace(names[node.text()])
        for node in (_find_uses(root, language, names, values) if names else ())
    ]
    return root.commit_edits(edits) if edits else text


def _other_names(
    imported: Mapping[str, str],
    renamed: list[tuple[str, str]],
    known: frozenset[str],
    language: str,
) -> Iterator[tuple[str, str]]:
    """Yield names of a file with what they stand for, where one is not the other and a rule may know it."""
    given = [local for local, _ in renamed]
    for local, name in renamed:
        head, dot, rest = name.partition(".")
        if given.count(local) == 1 and rest.rpartition(".")[2] in known:
            yield local, f"{imported.get(head, head)}{dot}{rest}"
    for local, name in list(imported.items())[:MOST_NAMES]:
        parts = name.split(".")
        if local != name and not known.isdisjoint((local, parts[0], parts[-1])):
            yield local, _write_name(name, language)


def _opened_names(
    module: str, text: str, known: frozenset[str], language: str
) -> Iterator[tuple[str, str]]:
    """Yield the `known` names that a file calls, does not define, and may have of `from MODULE import *`."""
    own = frozenset(DEFINED.findall(text))
    for name in sorted(known.intersection(CALLED.findall(text)) - own - BUILT_IN):
        yield name, _write_name(module.replace("*", name), language)


def _write_name(name: str, language: str) -> str:
    if language == "php":
        return name.replace(".", "\\")
    return ".".join(name.split(".")[-2:]) if language in BY_TYPE else name


def _find_uses(
    root: "SgNode", language: str, names: Mapping[str, str], values: frozenset[str]
) -> "Iterator[SgNode]":
    """Yield where one of the names is called; but for `values` also where one is handed over, or asked for a member."""
    shapes = language_named(language).shapes
    wanted = "|".join(map(re.escape, names))
    for node in root.find_all(regex=f"^(?:{wanted})$"):
        parent = node.parent()
        if parent is None or shapes.get(node.kind()) != "name":
            continue
        siblings = parent.named_children()
        shape = shapes.get(parent.kind())
        local = node.text()
        place = 0
        if shape == "member":
            # A module that keeps its name is known by it, wherever it comes from: `from alembic import op`.
            is_use = local not in values and names[local].rpartition(".")[2] != local
        elif shape == "call":
            is_use = True
        else:
            is_use = local not in values and parent.kind() in ARGUMENTS
            place = -1
        if is_use and siblings[place].range() == node.range():
            yield node
