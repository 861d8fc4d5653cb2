"""What code a request is about that no rule computes: the definitions that it names, or that its words fit best."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from cli_guard.assistant.editing.plan import near_names
from cli_guard.assistant.editing.sources import Sources, count, is_configuration
from cli_guard.assistant.request_change import Change
from cli_guard.assistant.request_question import Concept, parse_question
from cli_guard.assistant.retrieval.path_kinds import kind_of
from cli_guard.assistant.stems import needles_of, stems_of
from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.code.facts import call_text
from cli_guard.code.test_files import is_test_code
from cli_guard.secrets.redact import redact

MOST_SUBJECTS, MOST_NAMES, MOST_PARSED, SIGNATURE_CHARS, HEAD_CHARS = 4, 20, 40, 140, 2_000
CODE_KINDS = frozenset("function class constant type method struct interface enum trait variable".split())
VALUES = ("constant", "variable")
# What a request says of any change: no word of these is looked for.
OF_ANY_CHANGE = frozenset(
    "add allow bug change clean cleanup configurable configure create decouple delete enable extend extract extraction "
    "feature fix fixed handle implement improve introduce issue logic make move new py js ts optional performance "
    "problem pull refactor refactoring remove replace restructure rewrite rework simplify split stop support "
    "supports update use way write broken error errors code file files folder function functions class classes "
    "method methods module".split()
)
# What a word counts that is in the name of a definition, in its path, only in its body.
IN_NAME, IN_PATH, IN_BODY = 1.0, 0.6, 0.25
# How well others have to fit beside the best; what each further word in a name costs; a synonym that is a match.
NEAR_BEST, EXTRA_WORD, LEAST_SHARE, OWN_SHARE = 0.7, 0.04, 0.5, 0.8
PLAIN_FILES = frozenset("__init__ index mod main".split())


class Subject(NamedTuple):
    """A definition that a request is about."""

    path: str
    definition: Definition

    @property
    def name(self) -> str:
        return self.definition.name


class Found(NamedTuple):
    """The definitions a request is about, the words they were chosen by, and the words that are in no file.

    `whole` says that the words only name a file: these are its public definitions.
    """

    subjects: tuple[Subject, ...] = ()
    words: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    whole: bool = False


def show_some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


@lru_cache(maxsize=256)
def definitions_of(path: str, text: str) -> tuple[Definition, ...]:
    """The definitions of a file that are code, without what is local to a function."""
    found: list[Definition] = []
    local_to = 0
    for each in find_definitions(path, text):
        if each.line > local_to and each.kind in CODE_KINDS:
            found.append(each)
            local_to = each.end_line if each.kind in ("function", "method") else local_to
    return tuple(found)


def is_source(sources: Sources, path: str) -> bool:
    return sources.language(path) is not None and not is_configuration(path) and kind_of(path) != "vendored"


def find_subjects(sources: Sources, intent: Change, within: Sequence[str]) -> Found:
    """The definitions that a request is about, in the files `within` if it names some."""
    exact = find_exact(sources, intent, within)
    if exact:
        return Found(exact)
    if intent.names.symbols and not within:
        return Found(lost=tuple(show_near(sources, each) for each in intent.names.symbols[:3]))
    return find_by_words(sources, intent, within)


def show_near(sources: Sources, name: str) -> str:
    """A name that is not there, with those that are near."""
    near = near_names(sources, re.split(r"[.:]+", name)[-1])
    return f"{name} (nearest: {', '.join(near)})" if near else name


def find_exact(sources: Sources, intent: Change, within: Sequence[str]) -> tuple[Subject, ...]:
    """The definitions of the names in a request: a function before a constant, tests only if nothing else has it."""
    found: list[Subject] = []
    for name in (*intent.names.symbols, *intent.classes)[:MOST_NAMES]:
        *owners, last = name.removesuffix("()").replace("::", ".").split(".")
        for path in sources.mentioning(last):
            if is_source(sources, path) and (not within or path in within):
                for each in definitions_of(path, sources.texts[path]):
                    around = (*PurePosixPath(path).with_suffix("").parts, *each.qualname.split(".")[:-1])
                    if each.name == last and (not owners or owners[-1] in around):
                        found.append(Subject(path, each))
    wanted = [each for each in found if intent.only_tests or not is_test_code(each.path)] or found
    return tuple(sorted(wanted, key=lambda each: each.definition.kind in VALUES)[:MOST_SUBJECTS])


def find_by_words(sources: Sources, intent: Change, within: Sequence[str]) -> Found:
    """The definitions whose names, paths and bodies fit the words of a request best."""
    request = intent.request
    for name in (*intent.names.paths, *intent.names.missing, *intent.names.created):
        request = request.replace(name, " ")
    concepts = [
        c for c in parse_question(request).concepts if c.word not in OF_ANY_CHANGE and len(c.word) > 1
    ]
    own = {part for path in within for part in stems_of(path)}  # what the name of the file says of all in it
    concepts = [c for c in concepts if own.isdisjoint(stems_of(c.word))]
    files = [path for path in within or sources.texts if is_source(sources, path)]
    files = [path for path in files if within or intent.only_tests or not is_test_code(path)]
    needles = {
        c.word: [n for s, share in c.stems.items() if share > OWN_SHARE for n in needles_of(s)]
        for c in concepts
    }
    hits: dict[str, set[str]] = {c.word: set() for c in concepts}
    for path in files:
        lower = f"{path}\n{sources.texts[path]}".lower() if sources.has_time(path) else ""
        for word, some in needles.items():
            if any(needle in lower for needle in some):
                hits[word].add(path)
    lost, known = [word for word in hits if not hits[word]], [c for c in concepts if hits[c.word]]
    rarity = {c.word: c.weight * math.log(1 + len(files) / (len(hits[c.word]) + 0.5)) for c in known}
    in_file = {path: {word for word in rarity if path in hits[word]} for path in files}
    ranked = sorted(
        files, key=lambda path: (-rate(known, rarity, in_file[path], path, ()), path.count("/"), path)
    )
    scored: list[tuple[float, Subject]] = []
    for path in ranked[:MOST_PARSED]:
        lines = sources.texts[path].split("\n") if sources.has_time(path) else []
        for each in definitions_of(path, sources.texts[path]) if lines else ():
            body = "\n".join(lines[each.line - 1 : each.end_line]).lower()
            inside = {word for word in in_file[path] if any(needle in body for needle in needles[word])}
            names = stems_of(each.qualname)
            score = rate(known, rarity, inside, path, names) - EXTRA_WORD * len(set(names))
            scored.append((score, Subject(path, each)))
    scored.sort(key=lambda each: (-each[0], each[1].path, each[1].definition.line))
    fits = [s for score, s in scored if score > 0 and score >= NEAR_BEST * scored[0][0]]
    named = [s for s in fits if is_named(known, s.definition.qualname)]
    words = tuple(rarity)
    if named and named[0] == fits[0]:
        outer = [s for s in named if not any(is_around(o, s) for o in named)]
        return Found(tuple(outer[:MOST_SUBJECTS]), words, tuple(lost))
    if fits and (within or is_named(known, fits[0].path)):
        return Found(tuple(list_public(sources, fits[0].path)), words, tuple(lost), whole=True)
    return Found((), words, tuple(lost) if within else tuple(show_near(sources, each) for each in hits))


def is_named(concepts: Sequence[Concept], text: str) -> bool:
    return any(c.stems.get(each, 0.0) >= LEAST_SHARE for c in concepts for each in stems_of(text))


def is_around(outer: Subject, inner: Subject) -> bool:
    a, b = outer.definition, inner.definition
    return outer.path == inner.path and a.line < b.line and b.end_line <= a.end_line


def rate(
    concepts: Sequence[Concept],
    rarity: Mapping[str, float],
    inside: Collection[str],
    path: str,
    names: Sequence[str],
) -> float:
    """How well a definition fits: each word counts once, where it says most."""
    folders = stems_of(" ".join(PurePosixPath(path).with_suffix("").parts[-2:]))
    in_path, total = [part for part in folders if part not in PLAIN_FILES], 0.0
    for each in concepts:
        by_name = max((each.stems.get(part, 0.0) for part in names), default=0.0) * IN_NAME
        by_path = max((each.stems.get(part, 0.0) for part in in_path), default=0.0) * IN_PATH
        total += rarity[each.word] * max(by_name, by_path, IN_BODY * (each.word in inside))
    return total


def list_public(sources: Sources, path: str) -> list[Subject]:
    """The definitions at the top of a file that others may use, the longest first."""
    every = [each for each in definitions_of(path, sources.texts[path]) if each.kind not in VALUES]
    public = [each for each in every if not each.name.startswith("_") and "." not in each.qualname] or every
    return [Subject(path, each) for each in sorted(public, key=lambda d: (d.line - d.end_line, d.line))]


def show_signature(sources: Sources, subject: Subject) -> str:
    """`src/a.py:12-40: def f(x, y=1) (29 lines)`; the signature on one line, without secrets."""
    each, text = subject.definition, sources.texts[subject.path]
    start, line = sources.lines(subject.path).start_of(each.line), sources.line_text(subject.path, each.line)
    opening = line.find("(", line.find(each.name)) if each.kind not in VALUES else -1
    shown = line
    if opening >= 0:
        inside = call_text(text, start + opening, HEAD_CHARS)
        rest = text[start + opening + len(inside) :].partition("\n")[0]
        shown = line[:opening] + re.sub(r",?\s*\)$", ")", re.sub(r"\(\s+", "(", inside)) + rest
    shown = redact(" ".join(shown.split()), subject.path).rstrip(" {:=")
    shown = shown if len(shown) <= SIGNATURE_CHARS else shown[: SIGNATURE_CHARS - 3] + "..."
    return f"{subject.path}:{each.line}-{each.end_line}: {shown} ({count(each.end_line - each.line + 1, 'line')})"
