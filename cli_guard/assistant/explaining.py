"""Explains a path or a name of code from its own words and from what uses it, in at most 40 lines.

request -> name -> file, folder (explaining_files) or definition -> documentation, calls, callers, tests
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from cli_guard.assistant.explaining_files import (
    CODE,
    LISTED,
    MOST_LINES,
    NAMES,
    SENTENCE,
    Explainer,
    clip,
    first_paragraph,
    symbol_text,
)
from cli_guard.assistant.replies import count_of, first_of
from cli_guard.assistant.retrieval.uses import find_named, group_uses
from cli_guard.code.definitions import Definition, is_parseable
from cli_guard.code.languages import language_for
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped
from cli_guard.rules.catalog import read_patterns, read_table

PATTERNS = read_patterns("languages/patterns.toml", "explaining")
CALLERS = 8
REQUEST_CHARS = 400
FACTS = (("raises", "raised"), ("handles", "handled"), ("compares with", "values"))
NAME = re.compile(r"[\w$]+(?:(?:\.|::|->)[\w$]+)*")
SEPARATOR = re.compile(r"\.|::|->")
RECEIVER = re.compile(r"func \((\w+)")
# The nodes of calls, and the field of each with what is called.
CALLS = read_table("languages/patterns.toml")["called"]


def explain(
    texts: Mapping[str, str], name: str, near: Sequence[str] = ()
) -> tuple[str, ...]:
    """Explain a path, a folder or a name in files (path -> text); no lines if it is none.

    `near` are words of the path that is meant.
    """
    explainer = Explainer(texts)
    path = name.removeprefix("./").rstrip("/") or "."
    ends = [each for each in texts if each.endswith(f"/{path}")] if "." in path[1:] else []
    if path in texts or len(ends) == 1:
        found = explainer.explain_file(path if path in texts else ends[0])
    elif path == "." or any(each.startswith(f"{path}/") for each in texts):
        found = explainer.explain_folder("" if path == "." else f"{path}/")
    elif places := explainer.find_definitions(name, near):
        found = explain_definition(explainer, *places[0])
    else:
        return ()
    return tuple(found)[:MOST_LINES]


def read_explained(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Read a request to explain one thing: its name, and words near it; None for any other."""
    plain = " ".join(text.split()).rstrip("?!. ")[:REQUEST_CHARS]
    found = PATTERNS["request"].match(plain) or PATTERNS["named_first"].match(plain)
    if not found:
        return None
    name = found["name"].rstrip(":,.")
    rest = found["rest"]
    fits = PATTERNS["plain_rest"].fullmatch(rest) is not None
    # An English word and more behind it ("the checkout process") is no name of code.
    is_word = (
        name.islower() and name.isalpha() and not plain[found.end("name") :].startswith("(")
    )
    if found.re is PATTERNS["named_first"]:
        fits = True
    elif found["order"]:
        fits = fits or not (is_word or PATTERNS["other_question"].search(rest))
    else:
        # "What is the timeout?" asks for a value.
        fits = fits and not (is_word and not rest.strip())
    return (name, tuple(re.findall(r"[\w/.-]{3,}", rest.lower()))) if fits else None


def explain_definition(
    explainer: Explainer, path: str, definition: Definition
) -> Iterator[str]:
    """Yield the lines about a definition."""
    symbols = explainer.symbols(path)
    symbol = next((each for each in symbols if each.line == definition.line), None)
    owner = definition.qualname.rpartition(".")[0]
    head = f"{path}:{definition.line}-{definition.end_line}: {explainer.signature(path, definition)}"
    yield head + (f"  (in {owner})" if owner else "")
    if symbol and symbol.doc and (said := first_paragraph(symbol.doc.text.split("\n"))):
        yield f"  {clip(said, 2 * SENTENCE)}"
    members = (
        each for each in symbols if each.qualname == f"{definition.qualname}.{each.name}"
    )
    # Of several overloads the last one is the function itself.
    inner = list({each.name: each for each in members if each.is_function}.values())
    public = (each for each in inner[:NAMES] if each.public)
    yield from (f"  line {each.line}: {symbol_text(each.name, each)}" for each in public)
    if hidden := [each.name for each in inner if not each.public]:
        yield f"  not public: {first_of(hidden, NAMES)}"
    yield from list_calls(explainer, path, definition)
    body = "\n".join(
        explainer.texts[path].split("\n")[definition.line - 1 : definition.end_line]
    )
    for label, form in FACTS:
        found = (each.strip(" (").split(" as ")[0] for each in PATTERNS[form].findall(body))
        if names := list(dict.fromkeys(found)):
            yield f"  {label}: {first_of(names, LISTED)}"
    places = explainer.find_definitions(definition.name)
    yield from list_callers(explainer, path, definition, is_shared=len(places) > 1)
    yield from explainer.list_tests(path, [definition.name])
    shown = f"{path}:{definition.line}"
    if others := [each for each in (f"{p}:{d.line}" for p, d in places) if each != shown]:
        yield f"  also defined: {first_of(others, LISTED // 2)}"
    if explainer.is_cut:
        yield "  not all files with this name were read: there are too many"


def list_calls(explainer: Explainer, path: str, definition: Definition) -> Iterator[str]:
    """Yield what a definition calls: names of its file and of those it imports, and names from outside."""
    language = language_for(path) or ""
    text = explainer.texts[path]
    fields = CALLS.get(language)
    if fields is None or not is_parseable(text):
        return
    known: dict[str, str] = {}
    for other in (path, *explainer.imports.imports_of(path).inside[: LISTED * 3]):
        for each in explainer.definitions(other):
            if each.kind in CODE - {"constant"}:
                place = f"line {each.line}" if other == path else f"{other}:{each.line}"
                known.setdefault(each.name, f"{each.qualname} ({place})")
    bound = explainer.imports.names_bound(path)
    receiver = RECEIVER.match(explainer.signature(path, definition))
    own = ("self", "this", "cls", receiver[1] if receiver else "")
    calls: dict[str, dict[str, None]] = {"calls": {}, "calls from outside": {}}
    for node in (
        Trees().root(language, text).find_all(any=[{"kind": kind} for kind in fields])
    ):
        name = node.field(fields[node.kind()])
        is_inside = definition.line <= node.range().start.line + 1 <= definition.end_line
        if not name or not is_inside or not NAME.fullmatch(name.text()):
            continue
        first, *rest = SEPARATOR.split(name.text())
        last = rest[-1] if rest else first
        # The class of any other object is not known, so neither is its method.
        is_known = not rest or (
            len(rest) == 1 and (first in own or first in known or first in bound)
        )
        if last in known and last != definition.name and is_known:
            calls["calls"][known[last]] = None
        elif first in bound and first not in own:
            calls["calls from outside"][name.text()] = None
    yield from (
        f"  {label}: {first_of(list(found), LISTED)}"
        for label, found in calls.items()
        if found
    )


def list_callers(
    explainer: Explainer, path: str, definition: Definition, *, is_shared: bool
) -> Iterator[str]:
    """Yield what uses a definition, by file; one that shares its name is looked for where its file is imported."""
    texts = explainer.texts
    name = definition.name
    near: Collection[str] = texts
    if is_shared:
        name = definition.qualname
        near = {path, *explainer.imports.importers_of(path)}
    skipped: list[Skipped] = []
    found = [
        each
        for each in find_named(name, texts, sorted(near), skipped)
        if each.kind in ("call", "use")
        and not (each.path == path and definition.line <= each.line <= definition.end_line)
    ]
    yield from (f"  uses left out: {each.path}: {each.reason}" for each in skipped[:1])
    used = group_uses(name, found, texts)
    rows: dict[str, list[str]] = {}
    for each, holder in zip(used.uses, used.around, strict=True):
        place = f"{holder} (line {each.line})" if holder else f"line {each.line}"
        rows.setdefault(each.path, []).append(place)
    for where in list(rows)[:CALLERS]:
        yield f"  used in {where}: {first_of(rows[where], LISTED // 2)}"
    if len(rows) > CALLERS:
        yield f"  and in {count_of(len(rows) - CALLERS, 'more file')}"
    if not rows:
        files = {each.path for each in used.tests}
        tests = f", but in {count_of(len(files), 'test file')}" if files else ""
        yield f"  used in no other code here{tests}"
