"""What code a request is about that no rule computes: the definitions that it names, or that its words fit best."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from cli_guard.assistant.editing.plan import near_names
from cli_guard.assistant.editing.sources import (
    Sources,
    is_configuration,
    list_first,
    list_near,
)
from cli_guard.assistant.explaining_files import read_symbols, signature_of
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change
from cli_guard.assistant.retrieval.path_kinds import kind_of
from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.code.test_files import is_test_code
from cli_guard.secrets.redact import redact

MOST_SUBJECTS = 4
MOST_NAMES = 20
CODE_KINDS = frozenset(
    "function class constant type method struct interface enum trait variable".split()
)
VALUES = ("constant", "variable")


class CodeSubject(NamedTuple):
    """A definition that a request is about."""

    path: str
    definition: Definition

    @property
    def name(self) -> str:
        return self.definition.name


@lru_cache(maxsize=256)
def definitions_of(path: str, text: str) -> tuple[Definition, ...]:
    """Return the definitions of a file that are code, without what is local to a function."""
    found = []
    local_to = 0
    for each in find_definitions(path, text):
        if each.line > local_to and each.kind in CODE_KINDS:
            found.append(each)
            local_to = each.end_line if each.kind in ("function", "method") else local_to
    return tuple(found)


def is_source(sources: Sources, path: str) -> bool:
    return (
        sources.language(path) is not None
        and not is_configuration(path)
        and kind_of(path) != "vendored"
    )


def show_near(sources: Sources, name: str) -> str:
    """Return a name that is not there, with those that are near."""
    return name + list_near(near_names(sources, re.split(r"[.:]+", name)[-1]))


def find_exact(
    sources: Sources, intent: Change, within: Sequence[str]
) -> tuple[CodeSubject, ...]:
    """Return the definitions of the names in a request: functions first, tests only if nothing else has it."""
    found = []
    for name in (*intent.names.symbols, *intent.classes)[:MOST_NAMES]:
        *owners, last = name.removesuffix("()").replace("::", ".").split(".")
        for path in sources.mentioning(last):
            if is_source(sources, path) and (not within or path in within):
                for each in definitions_of(path, sources.texts[path]):
                    around = (
                        *PurePosixPath(path).with_suffix("").parts,
                        *each.qualname.split(".")[:-1],
                    )
                    if each.name == last and (not owners or owners[-1] in around):
                        found.append(CodeSubject(path, each))
    wanted = [
        each for each in found if intent.only_tests or not is_test_code(each.path)
    ] or found
    return tuple(
        sorted(wanted, key=lambda each: each.definition.kind in VALUES)[:MOST_SUBJECTS]
    )


def list_public(sources: Sources, path: str) -> list[CodeSubject]:
    """Return the definitions at the top of a file that others may use, the longest first."""
    every = [
        each
        for each in definitions_of(path, sources.texts[path])
        if each.kind not in VALUES
    ]
    public = [
        each for each in every if not each.name.startswith("_") and "." not in each.qualname
    ] or every
    return [
        CodeSubject(path, each)
        for each in sorted(public, key=lambda d: (d.line - d.end_line, d.line))
    ]


def show_signatures(
    sources: Sources, subjects: Sequence[CodeSubject], most: int
) -> list[str]:
    """Return lines for the first subjects, and how many more there are."""
    shown = [show_signature(sources, each) for each in subjects[:most]]
    return list_first(
        [*shown, *(each.name for each in subjects[most:])], most, "definition"
    )


def show_signature(sources: Sources, subject: CodeSubject) -> str:
    """Return `src/a.py:12-40: def f(x, y=1) (29 lines)`; the signature on one line, without secrets."""
    path = subject.path
    each = subject.definition
    text = sources.texts[path]
    head = redact(signature_of(text, each, read_symbols(sources.trees, path, text)), path)
    size = count_of(each.end_line - each.line + 1, "line")
    return f"{path}:{each.line}-{each.end_line}: {head} ({size})"
