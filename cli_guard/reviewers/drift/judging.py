"""Whether a document says what a change made false: the form of the name, what it belongs to, its sentence."""

import posixpath
import re
from collections.abc import Iterator

from cli_guard.code.facts import call_text
from cli_guard.code.facts import pattern as fact_pattern
from cli_guard.reviewers.drift.differences import INNER, DriftDifference
from cli_guard.reviewers.drift.documents import (
    TABLE,
    Page,
    Spot,
    is_of_sibling,
    pattern,
    words,
)
from cli_guard.reviewers.drift.forms import (
    SHORTEST,
    is_distinctive,
    matches,
    token,
)
from cli_guard.reviewers.drift.links import find_links, is_same_anchor, leads_to
from cli_guard.reviewers.drift.values import (
    Span,
    find_numbers,
    find_types,
    find_values,
    find_versions,
    is_own_choice,
    is_own_flag,
)
from cli_guard.rules.catalog import read_table

LONGEST_LINE = 2_000
# Whose feature it is: `cargo run -p NAME`, `NAME = { features = [...] }`.
PACKAGE = re.compile(r"(?:(?:-p|--package)[ =]|^[\s/!*]*(?=[\w-]+ = \{))([\w-]+)")
SETTINGS = (".ini", ".properties")
# Kinds of which other programs have some of the same name.
OF_OTHERS = ("flag", "variable", "string", "exit", "port", "feature")
# Kinds that an address says as well.
IN_ADDRESSES = ("port", "route", "badge")


def find_stale(difference: DriftDifference, page: Page) -> Iterator[tuple[Spot, int]]:
    """Yield the places of a document that say what is no longer true, and the column behind each."""
    is_nameless = difference.kind in INNER and not difference.owner
    if page.is_generated or is_nameless:
        return
    for start, end in _candidates(difference, page):
        spot = page.spot(start)
        if len(spot.line) > LONGEST_LINE:
            continue
        if page.is_source and difference.kind != "command" and not spot.is_read:
            continue
        if _is_of_the_past(spot):
            continue
        if difference.kind in OF_OTHERS and _is_of_another(difference, spot):
            continue
        if difference.kind in IN_ADDRESSES or not _is_in_address(difference, spot):
            yield spot, spot.column + end - start


def _is_of_the_past(spot: Spot) -> bool:
    """Return whether a place says what was so once: an entry of a changelog, `removed in 2.0`."""
    history = pattern("history")
    is_dated = spot.number in spot.page.history or history.search(spot.line)
    return bool(is_dated or history.search(spot.sentence))


def _is_in_address(difference: DriftDifference, spot: Spot) -> bool:
    return any(
        _begin_of(found, difference) <= spot.column < found.end()
        for found in pattern("address").finditer(spot.line)
    )


def _begin_of(address: re.Match[str], difference: DriftDifference) -> int:
    """Return where an address begins: the text of a link is of what it leads to, but a version in it is said here."""
    link = address[0].find("](")
    return address.start() + max(link, 0) * (difference.kind == "version")


def _is_of_another(difference: DriftDifference, spot: Spot) -> bool:
    """Return whether the section is about another program, or the sentence about the exit code of one."""
    package = PACKAGE.search(spot.line) if difference.kind == "feature" else None
    if package:
        return package[1] not in difference.ours
    said = set(re.findall(r"[\w.-]+", spot.sentence))
    if not difference.ours.isdisjoint(said):
        return False
    quoted = set(re.findall(r"`([\w.-]+)", spot.sentence))
    others = said & words("foreign_programs") or quoted & words("common_programs")
    is_exit = difference.kind == "exit" and bool(others)
    return is_exit or (
        spot.page.is_prose and bool(pattern("other_program").search(spot.section))
    )


def _candidates(difference: DriftDifference, page: Page) -> Iterator[Span]:
    fact = difference.fact
    if fact.kind == "version":
        yield from find_versions(difference, page)
    elif fact.kind == "type":
        yield from find_types(difference, page)
    elif difference.altered:
        yield from find_values(difference, page)
    elif fact.kind == "parameter":
        yield from _parameters(difference, page)
    elif fact.kind == "error":
        yield from _errors(difference, page)
    elif fact.kind == "anchor":
        yield from _anchors(difference, page)
    elif fact.kind in ("port", "exit"):
        yield from find_numbers(fact.kind, fact.name, page, difference.ours)
    else:
        if fact.kind == "file":
            name = posixpath.basename(fact.name).lower()
            is_told = pattern("developers_page").search(page.path) is not None
            if name in words("conventional_files") and not is_told:
                return  # the reader's own
            yield from _links(fact.name, page)
        ours = difference.ours if fact.kind == "extra" else frozenset()
        for match in matches(token(fact.kind, fact.name, ours), page):
            group = match.lastgroup or "name"
            if _is_meant(difference, page.spot(match.start(group)), match):
                yield match.span(group)


def _links(path: str, page: Page) -> Iterator[Span]:
    for link in find_links(page) if page.is_prose else ():
        if link.path and leads_to(link, page, path):
            yield link.start, link.start + len(link.path)


def _anchors(difference: DriftDifference, page: Page) -> Iterator[Span]:
    for link in find_links(page) if page.is_prose else ():
        is_own = is_same_anchor(link.anchor, difference.name)
        if is_own and leads_to(link, page, difference.path):
            yield link.anchor_start, link.anchor_start + len(link.anchor)


def _is_meant(difference: DriftDifference, spot: Spot, match: re.Match[str]) -> bool:
    fact = difference.fact
    if _is_of_page(fact.kind, fact.name, spot):
        return False
    match fact.kind:
        case "text":
            return spot.page.is_prose
        case "string":
            return spot.page.is_prose or bool(difference.new)
        case "badge":
            return pattern("badge").search(spot.line) is not None
        case "route":
            is_clear = (
                fact.name.count("/") > 1 or "://" in spot.before or not spot.page.is_prose
            )
            return pattern("route_said").search(spot.before) is not None or (
                spot.is_code and is_clear
            )
        case "choice":
            return is_own_choice(difference, spot)
        case "member":
            owners = re.findall(r"\w+", match["of"])[-1:] or re.findall(
                r"\w+", spot.sentence
            )
            return difference.owner in owners and bool(match["of"] or spot.is_code)
        case "flag":
            return fact.name not in words("universal_flags") and is_own_flag(
                difference, spot
            )
        case "file":
            return _is_same_file(difference, spot, match["name"])
        case "folder":
            is_path = "/" in fact.name or spot.page.text.startswith("/", match.end())
            return is_path or (spot.is_code and is_distinctive(fact.name))
        case "variable":
            return is_distinctive(fact.name) or spot.is_code
        case "command":
            ours = "|".join(map(re.escape, difference.ours))
            marks = (
                r"(?:^|[`*\"'\s$/])"
                if spot.is_code and not spot.page.is_source
                else "[`*\"']"
            )
            return bool(re.search(rf"{marks}(?:{ours})\s+$", spot.before))
        case "feature" if match["item"]:
            return re.search(r"(?i)#.*\bfeatures\b", spot.section) is not None
        case "key":
            return _is_own_key(difference, spot, match)
        case kind if kind == "module" or kind in read_table(TABLE)["said"]:
            return True
    return _is_own_name(difference, spot, match)


def _is_of_page(kind: str, name: str, spot: Spot) -> bool:
    """Return whether a file of commands means a variable of its own: it reads it, or gives it a value.

    What a workflow gives a value may be of the environment of the program.
    """
    page = spot.page
    if page.is_prose or page.is_source or kind not in ("constant", "variable"):
        return False
    is_script = pattern("script_file").search(page.path) is not None
    if is_script and spot.before.endswith(("$", "${", "$(")):
        return True
    is_own = kind == "constant" or is_script
    return is_own and _find_form(page, "own_setting", name) is not None


def _is_same_file(difference: DriftDifference, spot: Spot, said: str) -> bool:
    """Return whether a path in a document leads to a file: from the document if it is a link, or from the root."""
    path = difference.name
    folder = posixpath.dirname(spot.page.path)
    if spot.is_link and posixpath.normpath(posixpath.join(folder, said)) == path:
        return True
    if posixpath.basename(difference.new) == said:
        return False  # a file that keeps its name in another folder
    if not difference.new and pattern("brings").search(spot.sentence):
        return False  # the reader's own
    plain = said.removeprefix("./")
    if "/" not in plain and plain != path:  # a name in a folder that is named beside it
        return posixpath.dirname(path) in spot.item and plain == posixpath.basename(path)
    return plain == path or path.endswith("/" + plain)


def _is_own_key(difference: DriftDifference, spot: Spot, match: re.Match[str]) -> bool:
    """Return whether a key is set in an example of settings, or is named as code with what it is below."""
    name = difference.name
    page = spot.page
    path = spot.page.path
    is_given = re.match(r"[\"']?\s*[:=]", page.text[match.end() :][:4])
    is_sample = path.endswith(SETTINGS) or (
        not page.is_prose and fact_pattern("settings_file").search(path)
    )
    if (
        is_sample
        and is_distinctive(name)
        and not pattern("settings").search(difference.path)
    ):
        is_own = "." in name or not difference.ours.isdisjoint(re.findall(r"\w+", path))
        is_own = is_own or fact_pattern("settings_file").search(path) is not None
        return is_own and bool(is_given) and not spot.before.strip(" #;")
    if is_of_sibling(path, difference.path):
        return False
    if spot.before.endswith("--set "):  # of Helm
        return True
    is_cell = spot.is_row and is_distinctive(name) and not spot.before.strip(" |")
    if not page.is_prose or not (spot.is_code or is_cell):
        return False
    if not spot.is_fenced:
        return bool(match["of"]) or is_distinctive(name)
    opened = pattern("fence").match(page.lines[page.fences[spot.number] - 1])
    is_set = is_given and not spot.before.strip("\"' -")
    return bool(
        is_set and opened and opened["language"].lower() in words("settings_languages")
    )


def _is_own_name(difference: DriftDifference, spot: Spot, match: re.Match[str]) -> bool:
    fact = difference.fact
    page = spot.page
    ours = {each.lower() for each in difference.ours}
    known = is_distinctive(fact.name)
    owner = difference.owner.lower()
    if page.path.endswith(SETTINGS):
        return False
    if (
        not page.is_prose
        and not page.is_source
        and _find_form(page, "own_setting", fact.name)
    ):
        return False
    if match["of"]:
        last = re.split(r"\.|::|#|->", match["of"])[-2]
        if not owner and (folders := difference.folders):
            return last in folders
        if last.lower() in ours or last in ("self", "this", "cls", "crate"):
            return True
        if owner or not known:  # the name of an object, such as `client` of a class Client
            return known and last[0].islower() and last.lower() in owner
        return difference.path.endswith((".rs", ".go")) and last not in words(
            "foreign_modules"
        )
    imported = _imports(difference, page)
    if imported is not None:
        return imported and spot.is_code
    if page.is_prose and not owner and _is_defined_in(page, fact.name):
        return False
    if not difference.new and _find_form(page, "own_link", fact.name):
        return False  # another project's, to which the page leads
    if known:
        return not fact.name.startswith("_") or page.is_source
    if page.path == difference.path and not spot.before.strip(" \t/#*"):
        return True  # a comment that begins with the name, as the tools of Go want it
    if (
        len(fact.name) < SHORTEST
        or fact.kind not in ("function", "class")
        or not spot.is_code
    ):
        return False
    if re.search(
        rf"\b(?:def|class|function|func|fn)\s+{re.escape(fact.name)}\b", page.text
    ):
        return False
    if spot.before.endswith("new ") and posixpath.splitext(difference.path)[1] in words(
        "without_new"
    ):
        return False
    is_call = page.text.startswith("(", match.end()) and not owner
    return is_call or pattern("role").search(spot.before) is not None


def _is_defined_in(page: Page, name: str) -> bool:
    """Return whether an example of a page gives a name its value or its body, so that the name is the page's own."""
    return any(
        page.spot(found.end() - 1).is_code
        for form in ("own_value", "own_body")
        if (found := _find_form(page, form, name))
    )


def _find_form(page: Page, form: str, name: str) -> re.Match[str] | None:
    written = pattern(form).pattern.replace("DEFINES", pattern("definition").pattern)
    return re.search(written.replace("NAME", re.escape(name)), page.text)


def _imports(difference: DriftDifference, page: Page) -> bool | None:
    """Return whether the examples of a page import a name from this project alone; None: not at all."""
    word = re.escape(difference.name)
    script = (
        rf"\{{[^{{}}\n]*\b{word}\b[^{{}}\n]*\}}\s*(?:from|=\s*require\()\s*[\"']([^\"']+)"
    )
    python = re.findall(rf"from\s+([\w.]+)\s+import\s+[^\n]*\b{word}\b", page.text)
    own = [not difference.ours.isdisjoint(module.split(".")) for module in python]
    own += [
        module not in words("foreign_modules") for module in re.findall(script, page.text)
    ]
    used = rf"(?m)^\s*(?:use|import)\s+([\w.:\\]+?)(?:::|\.|\\)(?:\{{[^}}\n]*)?\b{word}\b"
    own += [
        not difference.ours.isdisjoint(re.split(r"\W+", each))
        for each in re.findall(used, page.text)
    ]
    return all(own) if own else None


def _parameters(difference: DriftDifference, page: Page) -> Iterator[Span]:
    """Find a parameter in calls of its function, and as code in a section with such a call."""
    word = re.escape(difference.name)
    owner = re.escape(difference.owner)
    for call in matches(rf"(?:\b(?P<of>\w{{1,60}})\.)?\b{owner} ?[({{]|<{owner}\s", page):
        start = call.end() - 1
        if call["of"] in words("foreign_modules"):
            continue
        is_tag = call[0][0] == "<"
        text = (
            page.text[start : start + LONGEST_LINE].split(">")[0]
            if is_tag
            else call_text(page.text, start)
        )
        behind = r"\s*[=:]"
        before = page.spot(call.start()).before
        if pattern("signature").fullmatch(before):
            behind = r"\s*[=:,)\]?]"
        for match in re.finditer(rf"(?<![\w.\"'-]){word}(?={behind})", text):
            yield start + match.start(), start + match.end()
    named = rf"\b{owner}\b" if is_distinctive(difference.owner) else rf"\b{owner}\("
    code = rf"`~?[\w.]{{0,80}}\b{owner}(?:\(|`)"
    for match in matches(
        rf"`(?P<name>{word})(?:[=:]|(?P<given>=[\w.\"']{{1,40}}))?`", page
    ):
        spot = page.spot(
            match.start()
        )  # with a value: of the function that the paragraph is about
        form, text = (code, spot.item) if match["given"] else (named, spot.section)
        if page.is_prose and not difference.is_key and re.search(form, text):
            yield match.span("name")


def _errors(difference: DriftDifference, page: Page) -> Iterator[Span]:
    """Find an error of a function in the item, the section or the docstring that says that it is raised."""
    name = re.escape(difference.name)
    owner = re.escape(difference.owner)
    alone = rf"|\b{owner}\b" if is_distinctive(difference.owner) else ""
    defined = rf"\b(?:{pattern('definition').pattern})\s+{owner}\b"
    if page.path != difference.path and re.search(defined, page.text):
        return  # of another class
    # A common name with a receiver may be the method of anything: `data.get("body")`.
    receiver = "" if alone else r"(?<!\.)"
    called = rf"{receiver}\b{owner}\(|`[\w.]*\b{owner}[`(]{alone}"
    field = rf"\s*[*#/]*\s*(?:{name}\s*:|[:@]?[rR]aises?:? {name}|@throws \{{?{name})"
    for match in matches(rf"(?<![\w.]){name}\b", page):
        spot = page.spot(match.start())
        told = (
            re.match(field, spot.line)
            if page.is_source
            else pattern("raises").search(spot.item)
        )
        others = re.findall(r"`(\w+)\(", spot.before) or [difference.owner]
        if told and re.search(called, spot.section) and difference.owner in others:
            yield match.span()
