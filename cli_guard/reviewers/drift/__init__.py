"""Drift: what a change made false in documents, comments and workflows that it does not touch.

The change itself says what is gone, renamed or altered; `git grep` finds where that is named; a line is reported only
if it was true before. All findings are advice.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from cli_guard.code.test_files import is_test_code
from cli_guard.errors import GitError
from cli_guard.hooks import event_of
from cli_guard.model import Finding, Hit, Report, Skipped
from cli_guard.repository.protocol import Searchable, WithFolders
from cli_guard.reviewers.docs.repair import patch
from cli_guard.reviewers.drift.differences import (
    INNER,
    DriftDifference,
    find_differences,
    project_names,
    read_sides,
)
from cli_guard.reviewers.drift.documents import (
    TABLE,
    Page,
    Spot,
    is_left_out,
    is_page,
    pattern,
    source_patterns,
    words,
)
from cli_guard.reviewers.drift.forms import VARIED, forms_of, number_of, words_of
from cli_guard.reviewers.drift.imports import find_left_imports
from cli_guard.reviewers.drift.in_use import is_in_use, is_searched_in_sources
from cli_guard.reviewers.drift.judging import find_stale
from cli_guard.reviewers.drift.unlisted import (
    Addition,
    changelog_gap,
    find_additions,
    list_gaps,
)
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import one, read_table
from cli_guard.secrets.printable import clip
from cli_guard.secrets.redact import redact

MOST_FINDINGS = 5
MOST_CAUSES = 3
# What is listed first: that it is no longer there needs no reading of a sentence.
SURE = ("file", "folder", "anchor", "label", "flag", "target", "script")
MOST_NAMES = 300
MOST_ADDITIONS = 20
MOST_PAGES = 200
MOST_CHANGELOG_LINES = 60
QUOTED_CHARS = 120
LONGEST_PATCHED = 500
SENTENCE_END = re.compile(r"[.!?;]\s+")
UNRELEASED = ("Unreleased", "unreleased", "UNRELEASED", "Upcoming", "Next", "TBD", "dev")
NO_DOCUMENTS = Skipped(
    "documents that the change does not touch", "drift: only a repository has them"
)


def review(subject: ReviewInput) -> Report:
    """Return findings about lines that the change made false, by path and line; at most `MOST_FINDINGS`."""
    skipped: list[Skipped] = []
    sides = list(read_sides(subject, skipped))
    differences = list(find_differences(subject, sides))
    additions = list(find_additions(sides, {each.new for each in differences}))[
        :MOST_ADDITIONS
    ]
    is_moved = any(c.is_gone for c in subject.changes)
    if not differences and not additions and not is_moved:
        return Report((), tuple(skipped))
    if not isinstance(subject.contents, Searchable):
        return Report((), (*skipped, NO_DOCUMENTS))
    project = project_names(subject)
    differences = [replace(each, project=project) for each in differences]
    lookup = Lookup(subject, subject.contents, skipped)
    imports = find_left_imports(
        subject.changes, differences, lookup.search, subject.text_at
    )
    # The surest first: those that stop a program, then lines that were true.
    found = [
        *imports,
        *lookup.find(differences[:MOST_NAMES]),
        *lookup.find_gaps(additions),
    ]
    if len(differences) > MOST_NAMES:
        reason = f"drift: searched for {MOST_NAMES} of {len(differences):,} changed names"
        skipped.append(Skipped("some documents", reason))
    if len(found) > MOST_FINDINGS:
        reason = f"drift: {MOST_FINDINGS} of {len(found):,} lines are listed"
        skipped.append(Skipped("some documents", reason))
    found = found[:MOST_FINDINGS]
    if event_of(subject.event).has_commits:
        hits = lookup.search(UNRELEASED, "changelogs")
        names = [change.path for change in subject.changes]
        find_kept = partial(lookup.find_kept_changelog, hits)
        found += changelog_gap(find_kept, names, [*differences, *additions])
    return Report(tuple(found), tuple(skipped))


class Lookup:
    """The search for the differences of one change; what it leaves out is added to `skipped`."""

    def __init__(
        self, subject: ReviewInput, contents: Searchable, skipped: list[Skipped]
    ) -> None:
        self._subject = subject
        self._contents = contents
        self._skipped = skipped
        self._changes = {change.path: change for change in subject.changes}
        self._pages: dict[str, Page | None] = {}
        self._places: dict[tuple[str, int], dict[tuple[int, int], DriftDifference]] = (
            defaultdict(dict)
        )

    def search(self, words: Iterable[str], where: str) -> tuple[Hit, ...]:
        """Return the lines with one of the words in files of a list of the rule file, or in "sources"."""
        patterns = (
            source_patterns()
            if where == "sources"
            else read_table(TABLE)["paths"][where].split()
        )
        hits = self._contents.search(words, tuple(patterns))
        if hits.cut:
            self._skipped.append(Skipped(f"some {where}", f"drift: {hits.cut}"))
        return hits.found

    def find(self, differences: list[DriftDifference]) -> list[Finding]:
        """Look in the pages, then in the sources, where what is named still may be defined."""
        for each in differences:
            is_inside = bool(each.new) or each.fact.kind in (*INNER, "anchor")
            if is_inside and (page := self._page(each.path)):
                self._judge(each, page)
        hits = self._look_in("pages", differences)
        told = self._find_told()
        wide = [
            each for each in differences if each in told or is_searched_in_sources(each)
        ]
        hits += self._look_in("sources", wide)
        told |= self._find_told()
        hits = tuple(
            hit for hit in hits if not is_page(hit.path) and not is_test_code(hit.path)
        )
        alive = {each for each in told if any(self._is_in_use(each, hit) for hit in hits)}
        sure: list[Finding] = []
        others: list[Finding] = []
        for (path, number), places in sorted(
            self._places.items(), key=lambda each: each[0]
        ):
            left = {
                span: places[span] for span in sorted(places) if places[span] not in alive
            }
            if left and (page := self._pages[path]):
                is_sure = any(each.fact.kind in SURE for each in left.values())
                chosen = sure if is_sure else others
                chosen.append(_finding(page, number, left))
        return [*sure, *others]

    def _find_told(self) -> set[DriftDifference]:
        return {
            difference for places in self._places.values() for difference in places.values()
        }

    def find_gaps(self, additions: list[Addition]) -> list[Finding]:
        """Look for the lists that leave out what is new."""
        names = {name for each in additions for name in (each.fact.name, *each.siblings)}
        hits = (
            self.search({word for name in names for word in forms_of(name)}, "pages")
            if names
            else ()
        )
        pages = [
            page
            for path in dict.fromkeys(hit.path for hit in hits)
            if (page := self._page(path))
        ]
        return [finding for each in additions for finding in list_gaps(each, pages)]

    def find_kept_changelog(self, hits: Iterable[Hit], path: str) -> tuple[str, int] | None:
        """Return where the notes on what is not released yet are: a line of a changelog, or a folder of notes.

        Of several changelogs it is the one nearest to a file, in a folder around it.
        """
        kept = [
            hit
            for hit in hits
            if hit.line <= MOST_CHANGELOG_LINES
            and pattern("unreleased").match(hit.text)
            and path.startswith(hit.path[: hit.path.rfind("/") + 1])
        ]
        if kept:
            nearest = max(kept, key=lambda hit: hit.path.count("/"))
            return nearest.path, nearest.line
        contents = self._contents
        if isinstance(contents, WithFolders):
            for folder in sorted(words("fragment_folders")):
                with suppress(GitError):
                    if contents.has_files_in(folder):
                        return f"{folder}/", 0
        return None

    def _look_in(self, where: str, differences: list[DriftDifference]) -> tuple[Hit, ...]:
        by_word: dict[str, list[DriftDifference]] = defaultdict(list)
        for difference in differences:
            for word in words_of(difference):
                by_word[word].append(difference)
        hits = self.search(by_word, where) if by_word else ()
        wanted: dict[str, dict[DriftDifference, None]] = defaultdict(dict)
        for hit in hits:
            for word, each in by_word.items():
                if word in hit.text:
                    wanted[hit.path].update(dict.fromkeys(each))
        for path, asked in wanted.items():
            if page := self._page(path):
                for difference in asked:
                    self._judge(difference, page)
        return hits

    def _judge(self, difference: DriftDifference, page: Page) -> None:
        touched = self._changes[page.path].added if page.path in self._changes else {}
        for spot, end in find_stale(difference, page):
            if spot.number in touched or self._names_another_file(difference, spot, end):
                continue
            known = self._places[page.path, spot.number]
            if not any(spot.column < last and first < end for first, last in known):
                known[spot.column, end] = difference

    def _names_another_file(
        self, difference: DriftDifference, spot: Spot, end: int
    ) -> bool:
        """Return whether a path, from the root or from here, leads to another file than the one that went."""
        if difference.fact.kind != "file" or spot.is_link:
            return False
        said = spot.line[spot.column : end].removeprefix("./")
        if said == difference.name:
            return False
        beside = posixpath.join(posixpath.dirname(spot.page.path), said)
        with suppress(GitError):
            return any(self._subject.text_at(each) is not None for each in (said, beside))
        return False

    def _is_in_use(self, difference: DriftDifference, hit: Hit) -> bool:
        change = self._changes.get(hit.path)
        if change and change.new_blob is None and hit.text in change.removed.values():
            return False  # the work tree is judged, and the index still has what it removes
        own = self._page(hit.path) if hit.path == difference.path else None
        return is_in_use(difference, hit, own)

    def _page(self, path: str) -> Page | None:
        if path not in self._pages:
            self._pages[path] = None if is_left_out(path) else self._read(path)
        return self._pages[path]

    def _read(self, path: str) -> Page | None:
        if len(self._pages) >= MOST_PAGES:
            self._skipped.append(Skipped(path, f"drift: {MOST_PAGES} documents are read"))
            return None
        with suppress(GitError):
            text = self._subject.text_at(path)
            return (
                None
                if text is None or len(text) > self._subject.limits.file_chars
                else Page(path, text)
            )
        return None


def _finding(
    page: Page, number: int, places: dict[tuple[int, int], DriftDifference]
) -> Finding:
    """Return the finding on a line, with all that is false at some `places` of it, by column."""
    fixed = line = page.lines[number - 1]
    all_told = list(dict.fromkeys(places.values()))
    rule = one(
        "drift",
        "docs-drift-value" if all(each.altered for each in all_told) else "docs-drift-name",
    )
    for (start, end), difference in reversed(places.items()):
        fixed = (
            fixed[:start] + _replacement(difference, page, line[start:end]) + fixed[end:]
        )
    shown = redact(line)
    is_shown = shown == line and len(line) <= LONGEST_PATCHED
    is_patched = (
        is_shown
        and fixed != line
        and all(each.new for each in all_told)
        and not _is_half_right(line, [s for s, each in places.items() if each.altered])
    )
    causes = " ".join(map(_describe, all_told[:MOST_CAUSES]))
    return rule.finding(
        path=page.path,
        line=number,
        message=f"{causes} This line is not changed with it: {_cut(shown.strip())}",
        suggestion=patch(line, fixed, number) if is_patched else None,
        content=f"{all_told[0].fact.name} {line}",
    )


def _is_half_right(line: str, spans: list[tuple[int, int]]) -> bool:
    """Return whether a sentence has an old value once more, where nothing says that it is false.

    A patch of one alone would make it contradict itself. In one word (`8080:8080`) they are two things.
    """
    for start, end in spans:
        value = rf"(?<![\w.-]){re.escape(line[start:end])}(?![\w-]|\.\w)"
        first = max((e.end() for e in SENTENCE_END.finditer(line, 0, start)), default=0)
        after = SENTENCE_END.search(line, end)
        last = after.start() if after else len(line)
        for word in re.compile(r"\S+").finditer(line, first, last):
            is_patched = any(word.start() < b and a < word.end() for a, b in spans)
            if not is_patched and re.search(value, word[0]):
                return True
    return False


def _describe(difference: DriftDifference) -> str:
    """Say in one sentence what the change did, and where."""
    fact = difference.fact
    new = _cut(difference.new)
    nouns = read_table(TABLE)["nouns"]
    name = f"`{_cut(fact.name)}`" + (
        f" of `{_cut(fact.owner)}`" if fact.kind in INNER else ""
    )
    if difference.altered:
        what = nouns["values"].get(fact.kind, "default")
        return f"The {what} of {name} is now `{new}`, no longer `{_cut(fact.value)}` ({_cut(difference.path)})."
    how = f"is now `{new}`" if new else "is gone"
    return f"The {nouns['names'].get(fact.kind, fact.kind)} {name} {how} ({_cut(difference.path)})."


def _replacement(difference: DriftDifference, page: Page, text: str) -> str:
    """Return what to write for a place in a line: the new name in the form that the place has."""
    fact = difference.fact
    new = difference.new
    if fact.kind == "flag" and not difference.altered:
        dashes = (
            text[: len(text) - len(text.lstrip("\\-"))]
            if len(fact.name) > 2
            else new[: -len(new.lstrip("-"))]
        )
        bare = new.lstrip("-")
        return dashes + (bare.replace("-", "\\-") if "\\-" in text else bare)
    if difference.altered and text != fact.value:  # a number in words or in another unit
        is_same_unit = number_of(new) and new == fact.value.replace(text, number_of(new))
        return number_of(new) if text == number_of(fact.value) and is_same_unit else text
    if fact.kind == "route" and not difference.altered and text != fact.name:
        return _route(fact.name, new, text)
    if fact.kind == "anchor" and text != fact.name:
        return text
    if fact.kind == "file" and new and text != fact.name:
        if fact.name.endswith("/" + text) and "/" in text:
            return "/".join(new.split("/")[-text.count("/") - 1 :])
        if posixpath.basename(fact.name) == text and posixpath.dirname(new) in page.text:
            return posixpath.basename(new)
        if text.startswith("/") or not posixpath.splitext(text)[1]:
            return text  # a link of which only the tool that builds the page knows the form
        return posixpath.relpath(new, posixpath.dirname(page.path) or ".")
    return new


def _route(old: str, new: str, text: str) -> str:
    """Return the new route with the values that a place of the old one has."""
    given = re.fullmatch("(.+?)".join(map(re.escape, VARIED.split(old))), text)
    values = iter(given.groups() if given else ())
    return VARIED.sub(lambda match: next(values, match[0]), new)


def _cut(text: str) -> str:
    return clip(text, QUOTED_CHARS + 3)
