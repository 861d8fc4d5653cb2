"""Puts plans together: a patched one, a refused one, one without its subject; and the tests that cover a change."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from cli_guard.assistant.editing.edits import MOST_FILES, Result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of, word
from cli_guard.assistant.editing.model import Kind, Place, Plan, Step, UsageGroup
from cli_guard.assistant.editing.sources import Sources, is_configuration, is_documentation
from cli_guard.code.classify import is_test

SHOWN_PATHS = 8
SHOWN_BY_HAND = 200
# How much is read to find a name that is written much like one that is not there.
MOST_NAMES, MOST_READ = 8_000, 4_000_000
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{2,60}")


def patched(
    sources: Sources,
    kind: Kind,
    summary: str,
    subject: str,
    outcome: Result,
    usages: Sequence[UsageGroup],
    steps: Sequence[Step],
    risks: Iterable[str],
    *,
    by_hand: Iterable[Place] = (),
    assumed: str | None = None,
    missing: Sequence[str] = (),
) -> Plan:
    """A plan with its patch; the last steps are what is by hand, and the tests to run."""
    left = sorted(set(by_hand))
    unread = [each.path for each in sources.skipped]
    all_risks = list(dict.fromkeys(risks))
    if outcome.broken:
        all_risks.insert(0, f"no patch: it would leave a file that does not parse ({listed(outcome.broken)})")
    if outcome.too_many:
        all_risks.insert(
            0, f"no patch: {outcome.too_many:,} files would change, and {MOST_FILES} is the most"
        )
    if unread:
        all_risks.insert(0, f"not every file was read to its end: {listed(unread)}")
    if sources.cut:
        all_risks.insert(0, "no patch: not every file could be looked at in the time given")
        outcome = Result({})
    done = bool(outcome.changes or outcome.removed)
    all_steps = [Step(s.purpose, s.paths, s.mechanical and done) for s in steps]
    if left:
        places = tuple(dict.fromkeys(path for path, _, _ in left))
        all_steps.append(Step(f"Look at {len(left)} {plural(len(left), 'place')} by hand", places))
    # To look at the result and to run the tests is no part of the change itself.
    complete = done and not left and not sources.skipped and all(s.mechanical for s in all_steps)
    touched = {*outcome.changes, *outcome.removed}
    tests = covering_tests(sources, touched, subject)
    if tests or touched:
        all_steps.append(
            Step("Run the tests that cover it" if tests else "Run the tests: none names it", tests)
        )
    return Plan(
        kind,
        summary,
        subject,
        tuple(usages),
        tuple(all_steps),
        tuple(all_risks),
        outcome.changes,
        outcome.removed,
        outcome.patch,
        complete,
        tuple(left[:SHOWN_BY_HAND]),
        assumed,
        tuple(missing),
        sources.skipped,
    )


def refused(
    sources: Sources,
    kind: Kind,
    summary: str,
    subject: str,
    reason: str,
    places: Sequence[Place],
    assumed: str | None = None,
    *,
    missing: Sequence[str] = (),
) -> Plan:
    """A plan without a patch, and why: the places stand in its way."""
    return Plan(
        kind,
        summary,
        subject,
        usages_of(sources, subject) if subject else (),
        (Step(f"Decide first: {reason}", tuple(dict.fromkeys(path for path, _, _ in places))),),
        (f"no patch: {reason}", *(f"{path}:{line}: {why}" for path, line, why in places[:20])),
        by_hand=tuple(places[:SHOWN_BY_HAND]),
        assumed=assumed,
        missing=tuple(missing),
        skipped=sources.skipped,
    )


def unknown_subject(sources: Sources, kind: Kind, name: str, intent: Intent) -> Plan:
    """A plan for a subject that is defined nowhere: what mentions there are, and the names that are near."""
    place = intent.get("place")
    where = f" in {place}" if place else ""
    last = re.split(r"[.:/]", name)[-1] or name
    usages = usages_of(sources, last)
    near = near_names(sources, last)
    hint = f"; near: {', '.join(near)}" if near else ""
    return Plan(
        kind,
        f"{name} is not defined{where}",
        name,
        usages,
        (Step(f"Say which {name} is meant{hint}"),),
        missing=(f"{name}{where}{hint}",),
        skipped=sources.skipped,
    )


def near_names(sources: Sources, name: str) -> list[str]:
    """Names of the repository that are written much like this one."""
    lower = name.lower()
    seen: set[str] = set()
    read = 0
    for path, text in sources.texts.items():
        if sources.language(path) is None or len(text) > 200_000:
            continue
        read += len(text)
        seen |= {each for each in IDENTIFIER.findall(text) if abs(len(each) - len(name)) <= 3}
        if len(seen) > MOST_NAMES or read > MOST_READ:
            break
    fits = [each for each in sorted(seen) if each.lower()[:1] == lower[:1]]
    return difflib.get_close_matches(name, fits, 3, 0.75)


def mention_risks(sources: Sources, name: str, edited: set[tuple[str, int]]) -> Iterator[str]:
    """What still says the name in configuration, prose and other languages once the edits are made."""
    groups: dict[str, list[str]] = {}
    pattern = word(name)
    for path in sources.mentioning(name):
        if all((path, m.start()) in edited for m in pattern.finditer(sources.texts[path])):
            continue
        if is_configuration(path):
            groups.setdefault("configuration", []).append(path)
        elif sources.language(path) is None and is_documentation(path):
            groups.setdefault("documents", []).append(path)
        elif sources.language(path) not in (None, main_language(sources, edited)):
            groups.setdefault(f"{sources.language(path)} files", []).append(path)
    for what in sorted(groups):
        yield f"{name} is also named in {what} that the patch leaves: {listed(groups[what])}"


def main_language(sources: Sources, edited: set[tuple[str, int]]) -> str | None:
    """The language that most of the edits are in."""
    found = [sources.language(path) for path, _ in sorted(edited)]
    known = [each for each in found if each is not None]
    return max(sorted(set(known)), key=known.count) if known else None


def covering_tests(sources: Sources, touched: Iterable[str], subject: str) -> tuple[str, ...]:
    """The test files that name the subject or a touched module, in order."""
    last = re.split(r"[.:/]", subject.strip("()"))[-1]
    stems = {PurePosixPath(p).stem for p in touched if not is_test(p)} - {"__init__", "index", "mod", "main"}
    patterns = [word(each) for each in sorted(stems) if len(each) > 2]
    found = []
    for path, text in sources.texts.items():
        if not is_test(path) or sources.language(path) is None:
            continue
        named = len(last) > 2 and last in text
        if path in touched or named or any(p.search(text) for p in patterns[:20]):
            found.append(path)
    return tuple(found[:50])


def listed(paths: Sequence[str]) -> str:
    """Some paths on one line."""
    names = list(dict.fromkeys(paths))
    more = f" and {len(names) - SHOWN_PATHS} more" if len(names) > SHOWN_PATHS else ""
    return ", ".join(names[:SHOWN_PATHS]) + more


def plural(number: int, noun: str) -> str:
    """The noun for this many."""
    return noun if number == 1 else f"{noun}s"
