"""What a request is about that no rule computes, and what a change of it reaches.

That is the definitions that it names; their callers by file, the tests, documents and settings, and what breaks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.plan import (
    PlanDraft,
    is_history,
    near_names,
    show_line,
    word,
)
from cli_guard.assistant.editing.sources import (
    Sources,
    is_configuration,
    is_documentation,
    join_some,
    list_first,
    list_near,
)
from cli_guard.assistant.editing.targets import find_targets, uses_of
from cli_guard.assistant.explaining_files import read_symbols, signature_of
from cli_guard.assistant.projects import tests_for
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change
from cli_guard.assistant.retrieval import find_references
from cli_guard.assistant.retrieval.path_kinds import kind_of
from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.code.languages import FAMILY
from cli_guard.code.test_files import is_test_code
from cli_guard.secrets.redact import redact

MOST_SUBJECTS = 4
MOST_NAMES = 20
CODE_KINDS = frozenset(
    "function class constant type method struct interface enum trait variable".split()
)
VALUES = ("constant", "variable")
MOST_FILES = 6
MOST_PLACES = 6
LONGEST_PROSE = 2_000_000
MOST_TESTS = 4
COMMAND_CHARS = 400
LINE_CHARS = 100
MOST_IN_FILE = 200
# Copies of what other files say.
COPIES = re.compile(
    r"(?:^|/)(?:PKG-INFO|METADATA|[^/]+\.(?:egg|dist)-info/.*)$|\.lock$|-lock\.json$"
)
EXPORTED = re.compile(
    r"\bexports?\b|\bpublic\b|\bpub\b|^func (?:\([^)]*\) )?[A-Z]|^type [A-Z]"
)


KIND_OF_ROLE = {"import": "import", "imported": "import", "listed": "listed"}


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


class SubjectUse(NamedTuple):
    """A place that uses a definition: line from 1, position of the name; `kind` is import, call, listed or use."""

    path: str
    line: int
    start: int
    kind: str


def uses_of_subject(
    sources: Sources, python: Python, subject: CodeSubject
) -> tuple[list[SubjectUse], list[SubjectUse]]:
    """Return the places that surely use a definition, and those that may: types are not inferred."""
    path = subject.path
    if sources.language(path) != "python":
        return sorted(find_by_name(sources, subject)), []
    found: tuple[list[SubjectUse], list[SubjectUse]] = [], []
    targets = find_targets(python, subject.definition.qualname, path)
    targets.sort(
        key=lambda each: python.line(path, each.occurrence.start) != subject.definition.line
    )
    for target in targets[:1]:
        sure, maybe, is_unique = uses_of(python, path, target.name, target.home)
        for each in {*sure, *maybe}:
            if each.role not in ("definition", "binding", "parameter"):
                after = sources.texts[each.path][each.end : each.end + 40].lstrip(" ")
                kind = KIND_OF_ROLE.get(
                    each.role, "call" if after.startswith("(") else "use"
                )
                use = SubjectUse(
                    each.path, python.line(each.path, each.start), each.start, kind
                )
                found[each not in sure and not is_unique].append(use)
    return sorted(found[0]), sorted(found[1])


def find_by_name(sources: Sources, subject: CodeSubject) -> Iterator[SubjectUse]:
    """Yield the uses of a name in the files of its language: in another file it is imported there, or a member."""
    name = subject.name
    language = sources.language(subject.path) or ""
    own = FAMILY.get(language, language)
    texts = {p: sources.texts[p] for p in sources.mentioning(name)}
    texts = {
        p: texts[p]
        for p in texts
        if FAMILY.get(found := sources.language(p) or "", found) == own
    }
    references = find_references(name, texts).references
    importing = {
        ref.path for ref in references if ref.kind == "import" or "require(" in ref.text
    }
    for ref in references:
        start = sources.lines(ref.path).start_of(ref.line) + ref.column - 1
        is_here = own != "javascript" or ref.path in (*importing, subject.path)
        is_known = is_here or texts[ref.path][start - 1 : start] == "."
        if is_known and ref.kind in ("import", "call", "use"):
            yield SubjectUse(ref.path, ref.line, start, ref.kind)


def group_uses(
    sources: Sources, uses: Iterable[SubjectUse], *, with_text: bool = False
) -> list[str]:
    """List uses by file, each line with the function that it is in: `a.py:12 in f, 40 in g`."""
    by_path: dict[str, dict[int, str]] = {}
    for each in uses:
        inner = definitions_of(each.path, sources.texts[each.path])
        around = [
            d.qualname
            for d in inner
            if d.line <= each.line <= d.end_line and d.kind != "constant"
        ]
        role = f"in {around[-1]}" if around else each.kind
        if each.kind == "import":
            role = "import"
        elif with_text:
            role += f" ({show_line(sources, each.path, each.line)[2][:LINE_CHARS]})"
        by_path.setdefault(each.path, {}).setdefault(each.line, f"{each.line} {role}")
    lines = [
        f"{path}:{join_some(list(said.values()), MOST_PLACES)}"
        for path, said in by_path.items()
    ]
    rest = sum(len(said) for said in list(by_path.values())[MOST_FILES:])
    more = f"... and {count_of(rest, 'more place')} in {count_of(len(lines) - MOST_FILES, 'file')}"
    return [*lines[:MOST_FILES], *([more] if rest else [])]


def add_tests(
    draft: PlanDraft,
    paths: Sequence[str],
    names: Sequence[str] = (),
    uses: Sequence[SubjectUse] = (),
) -> None:
    """Add the step that runs the tests of some names, or else of their files; `uses` are those in test code."""
    texts = draft.sources.texts
    covering = tests_for(paths, names, texts)
    if names and not covering.tests:
        covering = tests_for(paths, (), texts)
    using = list(dict.fromkeys(each.path for each in uses))
    tests = [test.path for test in covering.tests] or using
    if not tests:
        draft.risks.append(f"no test was found that covers {join_some(paths)}")
    lines = []
    for test in covering.tests[:MOST_TESTS]:
        at = join_some(
            [str(u.line) for u in uses if u.path == test.path and u.kind != "import"]
        )
        said = f": {join_some(test.names, 3)}" if test.names else ""
        lines.append(f"{test.path}{at and f':{at}'}{said} ({test.reason})")
    if left := len(tests[MOST_TESTS:]) + covering.left_out:
        lines.append(f"... and {count_of(left, 'more test file')}")
    command = covering.command or ""
    which = ""
    if len(command) > COMMAND_CHARS:
        command = tests_for(tests[:MOST_TESTS], (), texts).command or ""
        which = " (the strongest)" if len(tests) > MOST_TESTS else " (whole files)"
    is_short = 0 < len(command) <= COMMAND_CHARS
    head = (
        f"Run before and after{which}: {command}"
        if is_short
        else "Run the tests that cover it"
    )
    draft.add_step(head, tests, places=lines, command=command if is_short else "")


def find_prose(
    sources: Sources, names: Sequence[str], *, with_history: bool = True
) -> list[str]:
    """Return where documents and settings say some names of code, as lines."""
    found: dict[str, None] = {}
    for name in names:
        mark = re.escape(name)
        # A plain word is the name of code only in the form of code.
        in_code = (
            rf"(?<=[`.]){mark}(?=[`(])|(?<![\w.]){mark}(?=\(|\.\w)|(?:import|from) {mark}\b"
        )
        pattern = re.compile(in_code) if name.isalpha() and name.islower() else word(name)
        for path in sources.mentioning(name):
            is_prose = is_documentation(path) and sources.language(path) is None
            is_left_out = is_history(path) and not with_history
            if (
                COPIES.search(path)
                or not (is_prose or is_configuration(path))
                or is_left_out
            ):
                continue
            text = sources.texts[path][:LONGEST_PROSE]
            for match in islice(pattern.finditer(text), MOST_IN_FILE):
                line = sources.line(path, match.start())
                found[
                    f"{path}:{line}: {show_line(sources, path, line)[2][:LINE_CHARS]}"
                ] = None
    # A changelog says what was.
    every = sorted(found, key=lambda each: is_history(each.partition(":")[0]))
    return list_first(every, MOST_PLACES, "place")


def add_prose(draft: PlanDraft, prose: Sequence[str]) -> None:
    """Add the step for the lines that name something in documents and settings."""
    # The last of many lines only says how many more there are.
    paths = [each.partition(":")[0] for each in prose if ":" in each]
    draft.add_step("Bring up to date what names it", paths, places=prose)


def list_breaks(
    sources: Sources, subject: CodeSubject, uses: Sequence[SubjectUse]
) -> Iterator[str]:
    """Yield what a change of the name or the signature of a definition breaks."""
    name = subject.name
    path = subject.path
    shown = subject.definition.qualname
    line = sources.line_text(path, subject.definition.line)
    packages = [
        u
        for u in uses
        if u.kind == "listed" or (u.kind == "import" and "__init__.py" in u.path)
    ]
    if packages:
        public = join_some([f"{u.path}:{u.line}" for u in packages])
        yield f"{shown} is public: in __all__ or imported by a package at {public}"
    elif sources.language(path) != "python" and EXPORTED.search(line):
        yield f"{shown} is exported ({path}:{subject.definition.line})"
    owner = subject.definition.qualname.rpartition(".")[0].rpartition(".")[2]
    overriding = (
        list(find_overrides(sources, owner, name))
        if owner and not name.startswith("__")
        else []
    )
    if overriding:
        yield f"{shown} is overridden: {join_some(overriding)}"


def find_overrides(sources: Sources, owner: str, name: str) -> Iterator[str]:
    """Yield the methods of the same name in classes that say they extend `owner`."""
    extends = re.compile(
        rf"\bclass\s+(\w+)\s*(?:\([^)]{{0,300}}?\b{owner}\b|(?:<[^>]*>)?\s+extends\s+{owner}\b)"
    )
    for path in sources.mentioning(owner):
        text = sources.texts[path]
        children = {match[1] for match in extends.finditer(text)} if name in text else set()
        for each in definitions_of(path, text) if children else ():
            if each.name == name and children & set(each.qualname.split(".")[-2:-1]):
                yield f"{path}:{each.line} ({each.qualname})"
