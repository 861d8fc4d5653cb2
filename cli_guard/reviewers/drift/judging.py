"""Whether a document says what a change made false: the form of the name, what it belongs to, its sentence."""

import posixpath
import re
from collections.abc import Iterator

from cli_guard.code.facts import call_text
from cli_guard.code.facts import pattern as fact_pattern
from cli_guard.model import Hit
from cli_guard.reviewers.drift.differences import INNER, DriftDifference
from cli_guard.reviewers.drift.documents import (
    TABLE,
    Page,
    Spot,
    is_in_sentence,
    is_of_sibling,
    pattern,
    words,
)
from cli_guard.reviewers.drift.forms import (
    SHORT,
    SHORTEST,
    is_distinctive,
    matches,
    meanings_of,
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
# `[ -f`, `test -e`, `existsSync(`, `os.path.isfile(`
ASKED = re.compile(
    r"(?:\[|\btest) (?:! )?-[defrs] \S{0,40}$|(?i:exists?\w*|is_?file)\W[^)]{0,80}$"
)
C_FILE = re.compile(r"\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl)$")
# Whose feature it is: `cargo run -p NAME`, `NAME = { features = [...] }`.
PACKAGE = re.compile(r"(?:(?:-p|--package)[ =]|^[\s/!*]*(?=[\w-]+ = \{))([\w-]+)")
SETTINGS = (".ini", ".properties")


def is_searched_in_sources(difference: DriftDifference) -> bool:
    """Return whether the comments of all sources are searched: not for a word that is everywhere in code."""
    kind = difference.kind
    name = difference.name
    if difference.altered or len(name) == SHORT:
        return (kind in ("flag", "variable") and len(name) > SHORT) or bool(
            meanings_of(difference.fact)
        )
    return kind in ("file", "folder", "module", "flag", "error", "command", "feature") or (
        kind != "parameter" and is_distinctive(name)
    )


def is_in_use(difference: DriftDifference, hit: Hit, own: Page | None) -> bool:
    """Return whether a line of a source shows that what seemed gone is still there: defined, declared or read.

    `own` is the page of the hit if that is the file from which it seemed gone.
    """
    kind = difference.kind
    name = re.escape(difference.name)
    if kind == "module" and posixpath.dirname(hit.path) == posixpath.dirname(
        difference.path
    ):
        return hit.text.startswith("package ")  # a file of a Go package that stays
    if difference.altered or difference.name not in hit.text:
        return False
    if kind == "flag" and len(difference.name) == SHORT:
        return bool(re.search(rf"[\"']{name}[\"',]", hit.text))
    found = re.search(rf"(?<![\w-]){name}(?![\w-])", hit.text)
    if found is None:
        return False
    if kind == "error":  # what is raised now may be a kind of the former error
        return bool(
            re.search(rf"\bclass\s+{re.escape(difference.new)}\b.*\b{name}\b", hit.text)
        )
    comment = pattern("comment").search(hit.text)
    if comment and comment.start("mark") < found.start():
        return False
    if kind in ("flag", "variable", "key"):
        is_told = hit.path.endswith(".txt") or pattern("command_file").search(hit.path)
        return not is_told and not is_in_sentence(hit.text, found.start())
    if kind == "string":
        return True
    if kind == "file":  # a program that asks whether it is there goes on without it
        return ASKED.search(hit.text[: found.start()]) is not None
    if kind == "route":
        return bool(
            re.search(
                rf"(?i)(?:\.(?:get|post|put|patch|delete|route)|mapping|handle(?:func)?)\(\W{{0,3}}{name}[\"']",
                hit.text,
            )
        )
    if kind in ("script", "target"):  # of another package or folder
        return bool(re.match(rf"\s*\"{name}\"\s*:|{name}\s*:(?!=)", hit.text))
    if kind not in ("function", "class", "constant"):
        return False
    if kind == "function" and C_FILE.search(difference.path):
        # One of several of the name: what calls it would not build without another.
        return re.search(rf"(?<!\w){name}\s*\(", hit.text) is not None
    if own:  # an alias, an entry of a list of names, a module's `__getattr__`
        return hit.line > len(own.lines) or not Spot(own, hit.line, found.start()).is_read
    if re.search(rf"\bfrom\s+[\w.]*\b{name}\s+import\b", hit.text):
        return True  # a module has the name as well
    source = re.search(rf"\bfrom\s+([\w.]+)\s+import\b.*\b{name}\b", hit.text)
    if source:  # from a library that has the name as well
        return difference.ours.isdisjoint(source[1].split("."))
    begins = rf"\b(?:{pattern('definition').pattern})[\s*:(]*(?:\([^)]*\)\s*)?(?:\w+[.:]+)?"
    made = rf"{name}\s*(?::[^=]+)?=[^=]|(?:[\w<>]+\s+)*{name}\s*\([^;]*\{{\s*$"
    return bool(re.search(rf"{begins}{name}\b|^\s*(?:{made})", hit.text))


def find_stale(difference: DriftDifference, page: Page) -> Iterator[tuple[Spot, int]]:
    """Yield the places of a document that say what is no longer true, and the column behind each."""
    history = pattern("history")
    address = pattern("address")
    nameless = difference.kind in INNER and not difference.owner
    for start, end in (
        () if page.is_generated or nameless else _candidates(difference, page)
    ):
        spot = page.spot(start)
        if (
            len(spot.line) > LONGEST_LINE
            or spot.number in page.history
            or history.search(spot.line)
        ):
            continue
        if (
            page.is_source and difference.kind != "command" and not spot.is_read
        ) or history.search(spot.sentence):
            continue
        may_be_of_another = difference.kind in (
            "flag",
            "variable",
            "string",
            "exit",
            "port",
            "feature",
        )
        if may_be_of_another and _is_of_another(difference, spot):
            continue
        within = any(
            _begin_of(m, difference) <= spot.column < m.end()
            for m in address.finditer(spot.line)
        )
        if not within or difference.kind in ("port", "route", "badge"):
            yield spot, spot.column + end - start


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
