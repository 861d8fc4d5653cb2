"""Who answered which finding, and how far that is proved: signed statements, as `verify` sees them, and claims.

A signature is checked now, against the signers of a commit. An entry of the audit log is a line of a local file:
whoever can write to the file can write it, so it is shown as a claim.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cli_guard.errors import CliGuardError, NotARepository
from cli_guard.git.repository import Repository
from cli_guard.model import Presence
from cli_guard.review.approvals import check_statement
from cli_guard.review.auditing import approval_events, check_log, noted_lines, read_signed
from cli_guard.review.page.markup import LINE, Markup, anchor, facts, fit, join, link, section, tag
from cli_guard.review.render.words import count
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import Entry
from cli_guard.state.records import Records
from cli_guard.state.signers import Signers
from cli_guard.state.statements import BREAK_GLASS, Envelope, Statement

# Each signature takes some milliseconds to check.
MOST_CHECKED = 300
SHOWN, RULES_SHOWN, LONGEST = 500, 20, 300
LEVELS = {
    Presence.TTY: "somebody at a terminal here said yes; a program can pretend to be at one",
    Presence.KEY: "made with the person's key; a program that can use the key could have made it",
    Presence.TOUCH: "made with a security key that somebody touched",
    Presence.VERIFIED: "made with a security key that asked for a PIN or a finger",
    Presence.SECOND: "made by a second person",
}
GOOD, REFUSED, UNSIGNED, MISSING, UNCHECKED = "good", "does not count", "unsigned", "not found", "not checked"
COLORS = {GOOD: "good", REFUSED: "bad", UNSIGNED: "warn", MISSING: "bad", UNCHECKED: "warn"}


@dataclass(frozen=True, slots=True)
class Given:
    """One approval that was given, or is said to have been.

    `state` is one of COLORS and `why` says more; `mark` is the SHA-256 of what was signed, "" without a signature.
    `content` is the identity of the change, or the commit of a break-glass.
    """

    who: str
    at: str
    level: str
    state: str
    why: str
    reason: str
    rules: tuple[str, ...]
    fingerprints: tuple[str, ...]
    content: str
    mark: str = ""
    review_id: str = ""
    expires: str = ""
    decision: str = "approve"
    statement: Statement | None = None

    @property
    def place(self) -> str:
        """Return the id of its place on the page."""
        return anchor("s", self.mark or f"{self.review_id}{self.at[:19]}{self.who}"[::-1])


@dataclass(frozen=True)
class Evidence:
    """What a repository holds about answers: approvals, newest first, and how far the audit log can be trusted.

    `signers` names the commit whose signers count, `log` is the state of the log in words, `problems` what is wrong
    with it; `about` are more facts for the head of the page.
    """

    given: tuple[Given, ...]
    signers: str
    log: str
    problems: tuple[str, ...] = ()
    about: tuple[tuple[str, str], ...] = ()

    @cached_property
    def by_fingerprint(self) -> dict[str, list[Given]]:
        found: dict[str, list[Given]] = {}
        for each in self.given:
            for mark in each.fingerprints:
                found.setdefault(mark, []).append(each)
        return found

    def links_to(self, fingerprint: str) -> list[Markup]:
        """Return links to the approvals that name a finding, at most three."""
        found = self.by_fingerprint.get(fingerprint, [])
        return [
            link(each.place, fit(each.who, 80), f" ({each.level}, signature {each.state})")
            if each.mark
            else link(each.place, fit(each.who, 80), f" ({each.level}, unsigned)")
            for each in found[:3]
        ]


def evidence_here(invocation: Invocation, revision: str | None = None) -> Evidence | None:
    """Return what the repository here holds, None outside of one. Raises CliGuardError."""
    try:
        repository = Repository.discover(invocation.cwd, invocation.env)
    except NotARepository:
        return None
    about = (("Repository", repository.root_name), ("Made at", f"{invocation.now:%Y-%m-%d %H:%M} UTC"))
    try:
        base = repository.resolve(revision) if revision else None
        return collect_evidence(repository, invocation, base, about)
    except OSError as error:
        raise CliGuardError(f"the audit log cannot be read: {error.strerror} ({error.filename})") from error


def collect_evidence(
    repository: Repository,
    invocation: Invocation,
    revision: str | None,
    about: tuple[tuple[str, str], ...] = (),
) -> Evidence:
    """Read the approvals here and in Git's notes, check each signature, and check the audit log.

    The signers are those of `revision`, of HEAD for None. Raises CliGuardError, OSError if the log cannot be read.
    """
    records, base = Records(repository.state_folder), revision or repository.head
    signers = Signers.at_commit(repository, base)
    signed = read_signed({*noted_lines(repository), *records.signed_lines()})
    signed.sort(key=lambda each: each[2].at, reverse=True)
    logged = approval_events(records.audit)
    ids = {str(each.get("statement")): str(each.get("review_id", "")) for each in logged}
    given = []
    for number, (mark, envelope, made, level) in enumerate(signed):
        found = unchecked(mark, made, level, ids.get(mark, ""))
        if number < MOST_CHECKED:
            found = checked(found, envelope, signers, invocation)
        given.append(found)
    known = {mark for mark, *_ in signed}
    given += [claim_of(each) for each in logged if str(each.get("statement", "")) not in known]
    result = records.audit.verify()
    problems, signed_up_to = check_log(result, repository, invocation)
    return Evidence(
        tuple(sorted(given, key=lambda each: each.at, reverse=True)),
        f"at {base[:10]}" if base else "of no commit yet",
        f"{result}; {signed_up_to or 'no line of it is signed'}",
        (*((f"the audit log was changed: {result.problem}",) if result.problem else ()), *problems),
        about,
    )


def unchecked(mark: str, made: Statement, level: str, review_id: str) -> Given:
    return Given(
        who=made.principal,
        at=made.at,
        level=level,
        state=UNCHECKED,
        why=f"only the newest {MOST_CHECKED} were checked",
        reason=redact(made.reason),
        rules=tuple(sorted(set(made.findings.values()))),
        fingerprints=tuple(made.findings),
        content=made.content,
        mark=mark,
        review_id=review_id,
        expires=made.expires,
        decision=made.decision,
        statement=made,
    )


def checked(found: Given, envelope: Envelope, signers: Signers, invocation: Invocation) -> Given:
    """Return an approval with what the check of its signature gave."""
    assert found.statement  # noqa: S101 - only what was signed is checked
    try:
        good = check_statement(found.statement, envelope, signers, None, invocation)
    except CliGuardError as error:
        return replace(found, why=str(error))
    if isinstance(good, str):
        return replace(found, state=REFUSED, why=good)
    return replace(found, state=GOOD, level=str(good.level), why="")


def claim_of(logged: Entry) -> Given:
    """Return an entry of the audit log that no signature proves."""

    def text(name: str) -> str:
        return str(logged.get(name) or "")

    def texts(name: str) -> tuple[str, ...]:
        listed = logged.get(name)
        return tuple(map(str, listed)) if isinstance(listed, list) else ()

    mark = text("statement")
    lost = (
        "the log names a signed statement that is neither here nor in the notes: `cli-guard fetch` may get it"
    )
    return Given(
        who=text("principal") or text("user"),
        at=text("at"),
        level=text("level") or str(Presence.TTY),
        state=MISSING if mark else UNSIGNED,
        why=lost if mark else "an entry of the local audit log: whoever can write to that file can write it",
        reason=redact(text("reason")),
        rules=texts("approved_rules"),
        fingerprints=texts("fingerprints"),
        content=text("content") or text("commit"),
        mark=mark,
        review_id=text("review_id"),
        decision=text("event"),
    )


def answers_section(evidence: Evidence, commits: Sequence[tuple[str, str]] = ()) -> Markup:
    """Return who approved what; `commits` are the contents that are known to be in a commit, with its id."""
    known, shown = dict(commits), evidence.given[:SHOWN]
    if not shown:
        return section("answers", "Approvals", tag("p", "Nothing was approved here."))
    more = len(evidence.given) - len(shown)
    rest = tag("p", f"and {more} older: `cli-guard audit show --approvals`") if more else None
    return section("answers", "Approvals", *(card_of(each, evidence, known) for each in shown), rest)


def card_of(given: Given, evidence: Evidence, commits: dict[str, str]) -> Markup:
    commit = commits.get(given.content) or (given.content if given.decision == BREAK_GLASS else "")
    level = LEVELS.get(Presence(given.level)) if given.level in set(Presence) else ""
    rules = ", ".join(given.rules[:RULES_SHOWN])
    state = tag("span", state_of(given), class_=COLORS[given.state])
    made = given.statement
    bound = (
        (
            ("Statement", tag("code", given.mark)),
            ("Tree", made.tree),
            ("Starts from", made.base),
            ("Policy", made.policy),
        )
        if made
        else (("Statement", given.mark),)
    )
    detail = tag(
        "details",
        tag("summary", "What it is bound to, and how to check it"),
        facts((("Content", given.content), *bound, ("Files", ", ".join(made.blobs) if made else ""))),
        tag("pre", join(check_lines(given, commit), LINE)),
    )
    return tag(
        "div",
        tag("h3", fit(given.who or "nobody named", LONGEST), f", {given.at[:16].replace('T', ' ')}"),
        facts(
            (
                (
                    "Proof",
                    join((state, f": {given.why}" if given.why else f", by the signers {evidence.signers}")),
                ),
                ("Presence", f"{given.level}: {level}" if level else given.level),
                ("Decision", "break-glass" if given.decision == BREAK_GLASS else ""),
                ("Reason", fit(given.reason, LONGEST) if given.reason else "none given"),
                ("Until", given.expires[:16].replace("T", " ") or "no end"),
                ("Of", f"{rules} ({count(len(given.fingerprints), 'finding')})" if rules else ""),
                ("Commit", link(anchor("c", commit), commit[:10]) if commit else ""),
                ("Review", given.review_id),
            )
        ),
        detail,
        class_="card",
        id=given.place,
    )


def state_of(given: Given) -> str:
    return {GOOD: "signature good", REFUSED: "signed, does not count", UNSIGNED: "unsigned"}.get(
        given.state, f"signature {given.state}"
    )


def check_lines(given: Given, commit: str) -> Iterator[str]:
    """Yield the commands by which somebody else can check an approval."""
    if given.rules:
        yield f"cli-guard audit show --finding {given.rules[0]}"
    if commit:
        yield f"cli-guard audit show --commit {commit[:10]}"
        if given.mark:
            yield f"cli-guard verify --range {commit[:10]}^..{commit[:10]}"
    yield "cli-guard audit verify"


def proof_section(evidence: Evidence) -> Markup:
    """Return what can be relied on, and what can be forged."""
    states = [each.state for each in evidence.given]
    tally = ", ".join(f"{states.count(each)} {each}" for each in COLORS if each in states) or "none"
    log = tag("span", evidence.log, class_="bad" if evidence.problems else None)
    problems = evidence.problems and tag("ul", *(tag("li", fit(each, LONGEST)) for each in evidence.problems))
    return section(
        "proof",
        "What this proves",
        facts((("Approvals", tally), ("Signers", f"those of {evidence.signers}"), ("Audit log", log))),
        problems or None,
        tag(
            "ul",
            tag(
                "li",
                "A good signature proves who signed, and what. Its key must have been enrolled in ",
                tag("code", ".cli-guard/signers"),
                " by a commit, and not been revoked.",
            ),
            tag(
                "li",
                "An unsigned entry proves nothing to others: every program of the same user can write it.",
            ),
            tag("li", "Author, committer and date of a commit are what its author wrote."),
            tag("li", "This file is not signed either: make it again, and compare."),
        ),
    )
