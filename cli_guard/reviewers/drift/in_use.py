"""Whether a source shows that what seemed gone is still there: it is defined, declared or read."""

import posixpath
import re

from cli_guard.model import Hit
from cli_guard.reviewers.drift.differences import DriftDifference
from cli_guard.reviewers.drift.documents import Page, Spot, is_in_sentence, pattern
from cli_guard.reviewers.drift.forms import SHORT, is_distinctive, meanings_of

# `[ -f`, `test -e`, `existsSync(`, `os.path.isfile(`
ASKED = re.compile(
    r"(?:\[|\btest) (?:! )?-[defrs] \S{0,40}$|(?i:exists?\w*|is_?file)\W[^)]{0,80}$"
)
C_FILE = re.compile(r"\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl)$")


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
    match kind:
        case "flag" | "variable" | "key":
            is_told = hit.path.endswith(".txt") or pattern("command_file").search(hit.path)
            return not is_told and not is_in_sentence(hit.text, found.start())
        case "string":
            return True
        case "file":  # a program that asks whether it is there goes on without it
            return ASKED.search(hit.text[: found.start()]) is not None
        case "route":
            call = r"\.(?:get|post|put|patch|delete|route)|mapping|handle(?:func)?"
            form = rf"(?i)(?:{call})\(\W{{0,3}}{name}[\"']"
            return re.search(form, hit.text) is not None
        case "script" | "target":  # of another package or folder
            return bool(re.match(rf"\s*\"{name}\"\s*:|{name}\s*:(?!=)", hit.text))
        case "function" | "class" | "constant":
            return is_defined(difference, hit, own, found.start())
    return False


def is_defined(
    difference: DriftDifference, hit: Hit, own: Page | None, column: int
) -> bool:
    """Return whether a line defines a name of code that seemed gone, or imports it from elsewhere; see `is_in_use`."""
    name = re.escape(difference.name)
    if difference.kind == "function" and C_FILE.search(difference.path):
        # One of several of the name: what calls it would not build without another.
        return re.search(rf"(?<!\w){name}\s*\(", hit.text) is not None
    if own:  # an alias, an entry of a list of names, a module's `__getattr__`
        return hit.line > len(own.lines) or not Spot(own, hit.line, column).is_read
    if re.search(rf"\bfrom\s+[\w.]*\b{name}\s+import\b", hit.text):
        return True  # a module has the name as well
    source = re.search(rf"\bfrom\s+([\w.]+)\s+import\b.*\b{name}\b", hit.text)
    if source:  # from a library that has the name as well
        return difference.ours.isdisjoint(source[1].split("."))
    begins = rf"\b(?:{pattern('definition').pattern})[\s*:(]*(?:\([^)]*\)\s*)?(?:\w+[.:]+)?"
    made = rf"{name}\s*(?::[^=]+)?=[^=]|(?:[\w<>]+\s+)*{name}\s*\([^;]*\{{\s*$"
    return bool(re.search(rf"{begins}{name}\b|^\s*(?:{made})", hit.text))
