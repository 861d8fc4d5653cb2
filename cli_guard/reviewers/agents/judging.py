"""Judge what is new or changed in the files of a change that agents and editors obey or start."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from cli_guard.model import FileChange, Finding, Hunk, Kind, Report, Skipped, Status
from cli_guard.repository.entries import name_some
from cli_guard.reviewers.agents.beneath import AlteredScript, altered_scripts
from cli_guard.reviewers.agents.findings import (
    EVIDENCE_CHARS,
    SurfaceRemark,
    at_line,
    is_critical,
    other_matter,
    word_finding,
)
from cli_guard.reviewers.agents.named_texts import is_obeyed, named_texts
from cli_guard.reviewers.agents.obeyed import remarks_on_text
from cli_guard.reviewers.agents.permissions import widenings
from cli_guard.reviewers.agents.scripts import ScriptFacts
from cli_guard.reviewers.agents.servers import (
    change_of,
    launch_of,
    line_of_reasons,
    reasons_of,
)
from cli_guard.reviewers.agents.starts import Start, StartJudge
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.reviewers.agents.states import FileState, states_of
from cli_guard.reviewers.agents.tables import files_of, folders
from cli_guard.reviewers.agents.tasks import file_of
from cli_guard.reviewers.agents.traffic import diversion_of
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_patterns

SHOWN_FILES = 3
# A finding on a whole file stands at its first line.
TOP = (1, 1)


def review_files(
    subject: ReviewInput, changes: Sequence[FileChange], starters: Sequence[str]
) -> Report:
    """Return the findings on some files of a change, by path, line and rule.

    `starters` are settings beside them that do not change and may start what does.
    """
    skipped: list[Skipped] = []
    states = [
        state
        for change in changes
        if change.kind is Kind.TEXT
        for state in states_of(subject, change, skipped)
    ]
    judge = StartJudge(subject)
    judged = chain(
        chain.from_iterable(of_state(subject, judge, state) for state in states),
        of_altered(subject, altered_scripts(subject, judge, states, starters)),
        of_named(subject, named_texts(subject, states, starters, skipped)),
        of_links(changes),
        of_unknown(changes),
    )
    found = {(each.rule, each.path, each.fingerprint): each for each in judged}
    findings = sorted(
        found.values(), key=lambda each: (each.path, each.line or 0, each.rule)
    )
    return Report(tuple(findings), tuple(dict.fromkeys(skipped)))


def of_state(
    subject: ReviewInput, judge: StartJudge, state: FileState
) -> Iterator[Finding]:
    """Yield the findings on one file as one tool reads it."""
    if state.problem:
        message = (
            f"{state.file.tool} reads this file, and it cannot be read: {state.problem}"
        )
        yield at_line("unreadable", state.change, TOP, message)
    if state.file.local and state.change.status in (Status.ADDED, Status.COPIED):
        yield of_local(state)
    for remark in remarks_on(subject, judge, state):
        if not is_known(subject, remark.rule, remark.statement):
            yield word_finding(state.change, remark)


def is_known(subject: ReviewInput, rule: str, statement: SurfaceStatement) -> bool:
    """Return whether the policy knows a statement, and the rule is none that stops whatever it knows."""
    about = (statement.kind, statement.name, statement.digest)
    return about in subject.known_statements and not is_critical(rule)


def remarks_on(
    subject: ReviewInput, judge: StartJudge, state: FileState
) -> Iterator[SurfaceRemark]:
    """Yield what is to be said about the statements of one file."""
    yield from of_starts(subject, judge, state)
    yield from widenings(state.before, state.after, state.beside)
    yield from of_servers(state)
    yield from of_plugins(state)
    yield from of_traffic(state)
    yield from remarks_on_text(subject, state)


def of_local(state: FileState) -> Finding:
    path = state.change.path
    message = f"{state.file.local}; keep it out with a line `{path.rpartition('/')[2]}` in .gitignore"
    return at_line("local-state", state.change, TOP, message)


def of_starts(
    subject: ReviewInput, judge: StartJudge, state: FileState
) -> Iterator[SurfaceRemark]:
    """Yield a remark on each start that is new, or whose command changed."""
    for statement in state.new_ones("start"):
        if is_plain_shell(statement):
            continue
        start = judge.judge(statement)
        rule = rule_of_start(subject, statement, start)
        if statement.entry.words.get("is_quiet") and rule == "start-clean":
            continue
        is_changed = any(each.about == statement.about for each in state.before)
        words = words_of_start(statement, start, is_changed)
        if rule != "start-clean":
            words += other_matter(subject, state.change.path)
        placed = statement.moved_to(start.line) if start.line else statement
        yield SurfaceRemark(rule, placed, words, beneath=start.content)


def is_plain_shell(statement: SurfaceStatement) -> bool:
    """Return whether a terminal gets a shell of the system and nothing else."""
    pattern = read_patterns("agents/programs.toml", "patterns")["shell"]
    return (
        "program" in statement.entry.words
        and pattern.fullmatch(statement.value) is not None
    )


def rule_of_start(subject: ReviewInput, statement: SurfaceStatement, start: Start) -> str:
    """Return the rule of a start. `is_gated`: a person sees it and starts it, so only what is grave asks."""
    is_contained = bool(statement.entry.words.get("is_contained"))
    worm = worm_script(subject, start)
    if worm and (worm.is_hidden or not is_contained):
        return "worm"
    if start.sort == "denied":
        return "start" if is_contained else "start-denied"
    is_gated = bool(statement.entry.words.get("is_gated")) and not start.is_grave
    if start.sort == "asks" and not is_contained and not is_gated:
        return "start"
    return "start-clean"


def worm_script(subject: ReviewInput, start: Start) -> ScriptFacts | None:
    """Return the facts of a harmful script that this change adds or alters and that the start reaches.

    In a scan everything is new, also the scripts that are read for a start alone.
    """
    changed = {each.path for each in subject.changes if each.status is not Status.DELETED}
    for name, facts in start.scripts.items():
        if (file_of(name) in changed or subject.event == "scan") and facts.is_harmful:
            return facts
    return None


def of_altered(subject: ReviewInput, scripts: Iterable[AlteredScript]) -> Iterator[Finding]:
    """Yield a finding for each changed script beneath a start that was there already."""
    for each in scripts:
        statement = each.statement
        rule = rule_of_start(subject, statement, each.start)
        if rule == "start-clean":
            continue
        name = statement.name.removesuffix(".hooks")
        starts = f"{name} in {statement.path} starts this script by itself"
        why = f"{when_of(statement)}; it changed: {each.start.reason}"
        message = f"{statement.tool}: {starts}, {why}"
        lines = [
            line for hunk in each.change.hunks for line in (hunk.new_start, last_of(hunk))
        ]
        span = (max(min(lines), 1), max(lines)) if lines else TOP
        yield at_line(
            rule,
            each.change,
            span,
            message + other_matter(subject, each.change.path),
            evidence=f"{statement.name}: {statement.value}"[:EVIDENCE_CHARS],
            identity="\0".join((*statement.identity, each.start.content)),
        )


def of_named(
    subject: ReviewInput, texts: Iterable[tuple[FileState, SurfaceStatement]]
) -> Iterator[Finding]:
    """Yield the findings on texts that settings or rules name; in one that does not change, where it is named."""
    changed = {each.path: each for each in subject.changes}
    for state, root in texts:
        path = state.change.path
        for remark in remarks_on_text(subject, state):
            if is_known(subject, remark.rule, remark.statement):
                continue
            if path in changed:
                yield word_finding(changed[path], remark)
                continue
            placed = replace(remark.statement, node=root.node)
            words = f"{remark.words} (in {path})"
            remark = SurfaceRemark(remark.rule, placed, words)
            yield word_finding(changed[root.path], remark)


def last_of(hunk: Hunk) -> int:
    """Return the last line of a hunk after the change."""
    return max(hunk.new_start + len(hunk.added) - 1, hunk.new_start, 1)


def words_of_start(statement: SurfaceStatement, start: Start, is_changed: bool) -> str:
    """Return what starts, when, and what is said of it."""
    when = when_of(statement)
    verb = "its command changed; it starts" if is_changed else "starts"
    name = statement.name.removesuffix(".hooks")
    return f"{name} {verb} by itself, {when}: {start.reason}"


def when_of(statement: SurfaceStatement) -> str:
    """Return in words when a start happens."""
    otherwise = "without a question when the folder is opened or the tool runs"
    return statement.entry.word("says") or otherwise


def of_servers(state: FileState) -> Iterator[SurfaceRemark]:
    """Yield one remark on each new or changed server, with all its reasons."""
    for statement in state.new_ones("server"):
        old = (*state.before, *state.beside)
        same = [each for each in old if each.about == statement.about]
        changed = change_of(statement, same)
        before = {reason for each in same for reason in reasons_of(each)}
        reasons = [each for each in reasons_of(statement) if each not in before or changed]
        if same and not changed and not reasons:
            continue
        is_harmless_move = changed == "its version changed"
        if changed:
            reasons.insert(0, changed)
        asks = len(reasons) > 1 if is_harmless_move else bool(reasons)
        rule = "server-risky" if asks else "server"
        line = line_of_reasons(statement, reasons)
        placed = statement.moved_to(line) if line else statement
        yield SurfaceRemark(rule, placed, words_of_server(statement, reasons))


def words_of_server(statement: SurfaceStatement, reasons: Sequence[str]) -> str:
    launch = launch_of(statement.node)
    name = statement.name.rpartition(".")[2]
    how = "calls" if launch.address else "starts"
    target = launch.address or " ".join(launch.words)[:80]
    why = f": {'; '.join(dict.fromkeys(reasons))}" if reasons else ""
    return f"the server {name} {how} {target}{why}"


def of_plugins(state: FileState) -> Iterator[SurfaceRemark]:
    for statement in state.new_ones("plugin"):
        if statement.entry.words.get("is_own") and statement.value.startswith("./"):
            continue
        source = statement.value if statement.value not in ("true", statement.name) else ""
        where = f" from {source[:80]}" if source else ""
        message = f"the plugin or marketplace {statement.name}{where} brings its own hooks, servers and commands"
        yield SurfaceRemark("plugin", statement, message)


def of_traffic(state: FileState) -> Iterator[SurfaceRemark]:
    for statement in state.new_ones("traffic"):
        words = diversion_of(statement)
        if words:
            yield SurfaceRemark("traffic", statement, words)


def of_links(changes: Sequence[FileChange]) -> Iterator[Finding]:
    """Yield a finding for settings that are a symbolic link: what it leads to is not in the change."""
    for change in changes:
        if change.kind is not Kind.SYMLINK or change.status is Status.DELETED:
            continue
        files = [each for each in files_of(change.path) if each.entries]
        if files and not (all(each.is_text for each in files) and leads_to_text(change)):
            yield at_line(
                "unreadable", change, TOP, "a symbolic link stands in place of settings"
            )


def leads_to_text(link: FileChange) -> bool:
    """Return whether a symbolic link leads to a text of the repository that is read under its own name."""
    # Git stores the target as the only line.
    target = posixpath.join(posixpath.dirname(link.path), link.added.get(1, ""))
    target = posixpath.normpath(target)
    return not target.startswith(("/", "..")) and is_obeyed(target)


def of_unknown(changes: Sequence[FileChange]) -> Iterator[Finding]:
    """Yield one finding for new files in the folder of a known agent that no table names."""
    unknown = [
        change
        for change in changes
        if change.status in (Status.ADDED, Status.COPIED)
        and folders().search(change.path)
        and not any(files_of(change.path))
    ]
    if unknown:
        names = name_some([change.path for change in unknown], SHOWN_FILES)
        message = f"the folder belongs to an agent, and what it does with these is not known here: {names}"
        yield at_line("unknown-file", unknown[0], TOP, message)
