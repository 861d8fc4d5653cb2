"""What a planned change is, and the draft that becomes one: uses, steps, risks, and the texts that can be computed.

The uses of a name are those of every language; history files stay as they are.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Literal

from cli_guard.assistant.editing.sources import (
    NamedPath,
    Sources,
    TextEdit,
    apply_edits,
    find_syntax_errors,
    is_configuration,
    is_documentation,
    join_some,
    list_near,
)
from cli_guard.assistant.projects import advise, tests_for
from cli_guard.assistant.projects.running import command_for
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change
from cli_guard.assistant.retrieval import find_references
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Skipped
from cli_guard.repository.unified import unified_diff
from cli_guard.secrets.redact import redact

UsageKind = Literal[
    "definition", "import", "call", "use", "mention", "configuration", "documentation"
]
# (path, line counted from 1, the line's text without secrets, or a reason)
Place = tuple[str, int, str]
IN_CODE: tuple[UsageKind, ...] = ("definition", "import", "call", "use")
# In the order a reader wants them.
KINDS: tuple[UsageKind, ...] = (*IN_CODE, "mention", "configuration", "documentation")
SHOWN_PLACES = 200
SHOWN_CHARS = 160
# A name that one file holds more often is not looked up there: the way to the root is long for each.
MOST_IN_FILE = 2_000
HISTORY = re.compile(
    r"(?:change[-_]?logs?|changes|history|news|releases?|release[-_]notes)$", re.IGNORECASE
)
MOST_FILES = 500
SHOWN_BY_HAND = 200
# How much is read to find a name that is written much like one that is not there.
MOST_READ = 4_000_000
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{2,60}")


@frozen
class UsageGroup:
    """Uses of one kind: (path, line counted from 1, the line's text without secrets, clipped)."""

    kind: UsageKind
    places: tuple[Place, ...]


def word(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name which is no part of a longer one."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def usages_of(
    sources: Sources, name: str, only: Iterable[tuple[str, int]] = ()
) -> tuple[UsageGroup, ...]:
    """Return all places of a name by kind; `only` limits those in code to these positions."""
    chosen = {(path, sources.line(path, start)) for path, start in only}
    texts = {}
    for path in sources.mentioning(name) if name else ():
        if sources.texts[path].count(name) > MOST_IN_FILE:
            sources.skip(
                path, f"more than {MOST_IN_FILE:,} places in it were to be looked at"
            )
        else:
            texts[path] = sources.texts[path]
    if re.fullmatch(r"[^\W\d][\w$]*", name):
        looked = find_references(name, texts)
        for skipped in looked.skipped:
            sources.skip(skipped.path, skipped.reason)
        every = [
            (each.path, each.line, kind_in(sources, each.path, each.kind))
            for each in looked.references
        ]
    else:
        every = [
            (path, sources.line(path, match.start()), kind_in(sources, path, "mention"))
            for path, text in texts.items()
            for match in word(name).finditer(text)
        ]
    found: dict[UsageKind, list[Place]] = {kind: [] for kind in KINDS}
    for path, line, kind in sorted(set(every)):
        is_chosen = not chosen or kind not in IN_CODE or (path, line) in chosen
        if is_chosen and len(found[kind]) < SHOWN_PLACES:
            found[kind].append(show_line(sources, path, line))
    return tuple(
        UsageGroup(kind, tuple(places)) for kind, places in found.items() if places
    )


def kind_in(sources: Sources, path: str, kind: UsageKind) -> UsageKind:
    """Return the kind of a use in a file: what configuration and prose say is neither code nor a comment."""
    if is_configuration(path):
        return "configuration"
    return (
        "documentation"
        if is_documentation(path) and sources.language(path) is None
        else kind
    )


def show_line(sources: Sources, path: str, line: int) -> Place:
    """Return a line as a reader may see it: no secret, not too long."""
    # A secret's name may stand far before it: what is cut off is cut after it was masked.
    text = redact(sources.line_text(path, line)[: 20 * SHOWN_CHARS], path).strip()
    return path, line, text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 3] + "..."


def is_history(path: str) -> bool:
    """Return whether a document says what releases have brought (CHANGELOG, NEWS, ...)."""
    return is_documentation(path) and HISTORY.match(PurePosixPath(path).stem) is not None


def outside_history(edits: Iterable[TextEdit]) -> list[TextEdit]:
    """Return the edits without those of a history file, which says how it was called then."""
    return [each for each in edits if not is_history(each.path)]


@frozen
class PlanStep:
    """One thing to do, and where; `mechanical` if the patch does it. `places` are lines that say what is there.

    `command` runs the tests of a step that only runs tests: "" where it is unknown, None for every other step.
    """

    purpose: str
    paths: tuple[str, ...] = ()
    mechanical: bool = False
    places: tuple[str, ...] = ()
    command: str | None = None


@frozen
class EditPlan:
    """A change as a plan and, where it can be computed, as the new texts.

    `kind` is the kind of change, "edit" for one without a name of its own, "unknown" for one that names nothing here.
    `changes` is path -> new text and holds the text exactly, secrets included.
    `patch` is the same as a unified diff. `by_hand` is what it leaves: (path, line, reason). `assumed` names what an
    ambiguous request was taken to mean, `missing` what it names that is not there, `skipped` what was not looked at.
    """

    kind: str
    summary: str
    subject: str
    usages: tuple[UsageGroup, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    risks: tuple[str, ...] = ()
    changes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    patch: str = ""
    by_hand: tuple[Place, ...] = ()
    assumed: str | None = None
    missing: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(slots=True)
class PlanDraft:
    """A plan in the making. `name` is what it is about; its uses are looked up at the end, unless they are given.

    With one of `problems`, the places that are in its way, there is no patch.
    """

    sources: Sources
    kind: str
    title: str
    name: str = ""
    assumed: str | None = None
    steps: list[PlanStep] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    by_hand: list[Place] = field(default_factory=list)
    edits: list[TextEdit] = field(default_factory=list)
    problems: list[Place] = field(default_factory=list)
    usages: Sequence[UsageGroup] | None = None

    def assume(self, *notes: str | None) -> None:
        self.assumed = "; ".join(each for each in (self.assumed, *notes) if each) or None

    def add_step(
        self,
        purpose: str,
        paths: Collection[str],
        *,
        places: Sequence[str] = (),
        command: str | None = None,
    ) -> None:
        """Add a step, if there is a file that it is about."""
        if paths:
            self.steps.append(
                PlanStep(
                    purpose,
                    tuple(dict.fromkeys(paths)),
                    True,
                    tuple(places),
                    command,
                )
            )

    def ask(self, step: str, *missing: str) -> EditPlan:
        """Return the plan that only asks: what the request names is not there."""
        self.usages = self.usages or ()
        return self._build([PlanStep(step)], missing=missing)

    def ask_for_file(self, named: NamedPath) -> EditPlan:
        self.title = f"{named.missing.partition(';')[0]} is not there"
        return self.ask(
            f"Say which file is meant: {named.missing} is not in the repository",
            named.missing,
        )

    def refuse(self, reason: str, places: Sequence[Place] = ()) -> EditPlan:
        """Return the plan without a patch, and why: the places are in its way."""
        step = PlanStep(
            f"Decide first: {reason}", tuple(dict.fromkeys(path for path, _, _ in places))
        )
        lines = (f"{path}:{line}: {why}" for path, line, why in places[:20])
        self.by_hand = list(places)
        return self._build([step], [f"no patch: {reason}", *lines])

    def propose(self, missing: Sequence[str] = ()) -> EditPlan:
        """Return the plan without a patch: the steps that are there, the risks, and what to look at."""
        steps = [replace(each, mechanical=False) for each in self.steps]
        return self._build(steps, self.risks, missing=tuple(missing))

    def finish_edits(self, edits: Iterable[TextEdit]) -> EditPlan:
        """Return the plan of new texts; then what is left, and tests.

        There is no patch when one file would break, too many would change, or not all could be read.
        """
        sources = self.sources
        changes = apply_edits(sources, edits)
        broken = find_syntax_errors(sources.texts, changes)
        if self.usages is None:
            self.usages = usages_of(sources, self.name)
        reason = None
        if sources.late:
            reason = "not every file could be looked at: there are too many"
        elif len(changes) > MOST_FILES:
            reason = f"{len(changes):,} files would change, and {MOST_FILES} is the limit"
        elif broken:
            reason = f"it would leave a file that does not parse ({join_some(broken)})"
        elif not changes and not self.by_hand:
            return self.refuse("there is nothing to change: it is so already")
        new = {} if reason else dict(sorted(changes.items()))
        old = {path: sources.texts[path] for path in new}
        if not self.steps:
            self.add_step(self.title, tuple(sorted(changes)))
        steps = [replace(s, mechanical=s.mechanical and bool(new)) for s in self.steps]
        self.by_hand = sorted(set(self.by_hand))
        if self.by_hand:
            paths = tuple(dict.fromkeys(path for path, _, _ in self.by_hand))
            steps.append(
                PlanStep(f"Look at {count_of(len(self.by_hand), 'place')} by hand", paths)
            )
        tests = covering_tests(sources, new, self.name)
        if tests or new:
            purpose = (
                "Run the tests that cover it"
                if tests
                else "Run all tests: no test names it"
            )
            chosen = [(path, ()) for path in tests]
            command = command_for(chosen, sources.texts) if chosen else None
            command = command or advise("run all tests", sources.texts).command
            steps.append(PlanStep(purpose, tests, command=command or ""))
        unread = join_some([each.path for each in sources.skipped])
        risks = [f"no patch: {reason}"] if reason else []
        risks += [f"not every file was read to its end: {unread}"] if unread else []
        patch = unified_diff(old, new) if new else ""
        return self._build(steps, [*risks, *self.risks], changes=new, patch=patch)

    def _build(
        self, steps: Iterable[PlanStep], risks: Sequence[str] = (), **rest: Any
    ) -> EditPlan:
        usages = usages_of(self.sources, self.name) if self.usages is None else self.usages
        return EditPlan(
            self.kind,
            self.title,
            self.name,
            tuple(usages),
            tuple(steps),
            tuple(dict.fromkeys(risks)),
            by_hand=tuple(self.by_hand[:SHOWN_BY_HAND]),
            assumed=self.assumed,
            skipped=self.sources.skipped,
            **rest,
        )


def draft_unknown(sources: Sources, kind: str, intent: Change) -> EditPlan:
    """Return the plan for a name that is defined nowhere: what mentions there are, and the names that are near."""
    name = intent.get("old")
    where = f" in {intent.get('place')}" if intent.get("place") else ""
    last = re.split(r"[.:/]", name)[-1] or name
    hint = list_near(near_names(sources, last))
    draft = PlanDraft(
        sources,
        kind,
        f"{name} is not defined{where}",
        name,
        usages=usages_of(sources, last),
    )
    return draft.ask(f"Say which {name} is meant{hint}", f"{name}{where}{hint}")


def near_names(sources: Sources, name: str) -> list[str]:
    seen = set()
    left = MOST_READ
    for path, text in sources.texts.items():
        if sources.language(path) is not None and len(text) < left:
            left -= len(text)
            seen |= {
                each for each in IDENTIFIER.findall(text) if abs(len(each) - len(name)) <= 3
            }
    fits = [each for each in sorted(seen) if each.lower()[:1] == name.lower()[:1]]
    return difflib.get_close_matches(name, fits[:2_000], 3, 0.75)


def covering_tests(
    sources: Sources, touched: Collection[str], subject: str
) -> tuple[str, ...]:
    """Return the test files that are touched, name the subject or cover a touched file."""
    last = re.split(r"[.:/]", subject.strip("()"))[-1]
    tests = [path for path in sorted(touched) if is_test_code(path)]
    found = tests_for({*touched} - {*tests}, [last], sources.texts).tests
    return tuple(dict.fromkeys((*tests, *(each.path for each in found))))
