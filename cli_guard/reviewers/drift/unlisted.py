"""What a change adds and a document of its kind leaves out: an option in a list of options, a line in a changelog."""

import re
from collections.abc import Callable, Iterable, Iterator

from cli_guard.code.facts import Fact, call_text, plain
from cli_guard.lazy import frozen
from cli_guard.model import Finding, Status
from cli_guard.reviewers.docs.styles import indent_of
from cli_guard.reviewers.drift.differences import DriftDifference, Sides
from cli_guard.reviewers.drift.documents import Page, pattern
from cli_guard.reviewers.drift.forms import token
from cli_guard.rules.catalog import one

FEWEST_SIBLINGS = 2
# What the users of a program or a library see; a function only by its public name.
VISIBLE = ("flag", "variable", "key", "command", "exit", "class", "function", "parameter")


@frozen
class Addition:
    """A new option or variable, what is said of it where it is declared, and its older siblings.

    The first `above` of them are declared before it.
    """

    fact: Fact
    path: str
    help: str
    siblings: tuple[str, ...]
    above: int


def find_additions(files: Iterable[Sides], renamed: set[str]) -> Iterator[Addition]:
    """Yield the new public options and variables of files that had others before."""
    for sides in files:
        added = sides.change.added.values()
        # Nothing in a new file is older than the rest.
        if sides.change.status is Status.ADDED or not any(
            map(pattern("declares").search, added)
        ):
            continue
        listed = sorted(
            (f for f in sides.new.values() if f.kind in ("flag", "variable")),
            key=lambda f: f.line,
        )
        fresh = [
            f for f in listed if f.line in sides.change.added and f.key not in sides.old
        ]
        for fact in fresh:
            others = [f for f in listed if f.kind == fact.kind and f not in fresh]
            above = [f.name for f in others if f.line < fact.line]
            block = "\n".join(sides.text.split("\n")[fact.line - 1 : fact.line + 12])
            opened = re.search(r"[({]", block)
            call = call_text(block, opened.start()) if opened else ""
            if (
                len(others) < FEWEST_SIBLINGS
                or fact.name in renamed
                or pattern("hidden").search(call)
            ):
                continue
            said = next(
                (
                    plain(m[0])
                    for m in pattern("string").finditer(call)
                    if " " in m[0].strip()
                ),
                "",
            )
            names = (*above, *(f.name for f in others if f.name not in above))
            yield Addition(fact, sides.change.path, said, names, len(above))


def list_gaps(addition: Addition, pages: list[Page]) -> Iterator[Finding]:
    """Yield a finding for each list of the siblings without the new one, if no document names it."""
    kind = addition.fact.kind
    siblings = addition.siblings
    pages = [page for page in pages if page.is_prose and not page.is_generated]
    if any(token(kind, addition.fact.name).search(page.text) for page in pages):
        return
    for page in pages:
        entries = {
            name: number for name in siblings if (number := _entry(page, kind, name))
        }
        if len(entries) >= max(FEWEST_SIBLINGS, len(siblings) * 3 // 4):
            above = [
                entries[name] for name in siblings[: addition.above] if name in entries
            ]
            yield _finding(addition, page, max(above or entries.values()))


def _entry(page: Page, kind: str, name: str) -> int:
    """Return the line on which a list or a table begins to describe a name, 0 if none does."""
    spots = (
        page.spot(match.start("name")) for match in token(kind, name).finditer(page.text)
    )
    spots = (s for s in spots if not s.is_fenced or pattern("usage_entry").match(s.line))
    listed = (s for s in spots if s.number not in page.history)
    return next((s.number for s in listed if pattern("entry").fullmatch(s.before)), 0)


def _finding(addition: Addition, page: Page, number: int) -> Finding:
    rule = one("drift", "docs-drift-unlisted")
    line = page.lines[number - 1]
    name = addition.fact.name
    return rule.finding(
        path=page.path,
        line=number,
        message=f"`{name}` is new ({addition.path}), and this list, which has the others, leaves it out.",
        suggestion=f"@@ -{number},1 +{number},2 @@\n {line}\n+{_in_style(addition, line)}",
        content=name,
    )


def _in_style(addition: Addition, line: str) -> str:
    """Return an entry for the new name that looks like an entry of the list."""
    shape = pattern("entry_shape").match(line)
    told = addition.help or "..."
    if usage := pattern("usage_entry").match(line):
        return f"{indent_of(line)}{addition.fact.name}  ".ljust(usage.end()) + told
    if shape is None:
        return addition.fact.name
    name = addition.fact.name.replace("-", "\\-") if "\\-" in line else addition.fact.name
    start = f"{shape['before']}{name}{shape['quote']}"
    if line.lstrip().startswith("|"):
        cells = line.strip().strip("|").count("|")
        return f"{start} | {' | '.join(['...'] * (cells - 1) + [told])} |"
    return start + (shape["between"] + told if shape["between"] else "")


def changelog_gap(
    find_kept: Callable[[str], tuple[str, int] | None],
    changed: Iterable[str],
    seen: list[DriftDifference | Addition],
) -> Iterator[Finding]:
    """Yield one finding if notes are kept on what is not released yet, and the change leaves itself out of them."""
    visible = [each for each in seen if isinstance(each, Addition) or _is_visible(each)]
    if not visible or any(map(pattern("changelog").search, changed)):
        return
    kept = find_kept(visible[0].path)
    if not kept:
        return
    path, line = kept
    rule = one("drift", "docs-drift-changelog")
    name = visible[0].fact.name
    place = "line here" if line else "note in this folder"
    yield rule.finding(
        path=path,
        line=line or None,
        message=f"Users see the change (`{name}`, {visible[0].path}), and no {place} says so.",
        content="",
    )


def _is_visible(difference: DriftDifference) -> bool:
    private = any(
        part.startswith("_")
        for part in (difference.name, *difference.fact.owner.split("."))
    )
    return difference.kind in VISIBLE and not private and "/_" not in difference.path
