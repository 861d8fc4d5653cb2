"""Who answered which finding, and how far that is proved: signed statements, as `verify` sees them, and claims.

A signature is checked now, against the signers of a commit. An entry of the audit log is a line of a local file:
whoever can write to the file can write it, so it is shown as a claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from cli_guard.errors import CliGuardError, NotARepository
from cli_guard.git.repository import Repository
from cli_guard.review.approvals import check_statement
from cli_guard.review.auditing import approval_events, check_log, noted_lines, read_signed
from cli_guard.review.page.markup import (
    Markup,
    Section,
    anchor,
    bullets,
    facts,
    fill,
    fit,
    join,
    link,
    section,
)
from cli_guard.review.render.words import count
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import Entry
from cli_guard.state.records import Records
from cli_guard.state.signers import Signers
from cli_guard.state.statements import BREAK_GLASS, Statement

# Each signature takes some milliseconds to check.
MOST_CHECKED = 300
SHOWN = 100
GOOD, REFUSED, UNSIGNED = "signature good", "signed, but does not count", "unsigned"
COLORS = {GOOD: "good", REFUSED: "bad", UNSIGNED: "warn"}
LOST = "the log names a signed statement that is neither here nor in the notes: `cli-guard fetch` may get it"
LISTS = ("fingerprints", "approved_rules")
CLAIM = "an entry of the local audit log, which whoever can write to that file can write"


@dataclass(frozen=True, slots=True)
class Given:
    """One approval, or what is said to be one. `proof` is one of COLORS, and `why` says more.

    `mark` is the SHA-256 of what was signed, "" for nothing; `commit` is that of a break-glass.
    """

    made: Statement
    level: str
    proof: str
    why: str
    mark: str = ""
    review_id: str = ""

    @property
    def place(self) -> str:
        """Return the id of its place on the page."""
        return anchor("s", self.mark or f"{self.review_id}{self.made.at}")

    @property
    def commit(self) -> str:
        return self.made.content if self.made.decision == BREAK_GLASS else ""


@dataclass(frozen=True)
class Evidence:
    """What a repository holds about answers: approvals, newest first, and how far its audit log can be trusted.

    `signers` names the commit whose signers count, `log` is the state of the log in words, `problems` what is wrong
    with it; `about` are facts for the head of the page.
    """

    given: tuple[Given, ...]
    signers: str
    log: str
    problems: tuple[str, ...] = ()
    about: tuple[tuple[str, object], ...] = ()

    @cached_property
    def by_finding(self) -> Mapping[str, list[Given]]:
        found: dict[str, list[Given]] = {}
        for each in self.given[:SHOWN]:
            for mark in each.made.findings:
                found.setdefault(mark, []).append(each)
        return found

    def links_to(self, fingerprint: str) -> Markup:
        """Return links to the approvals that name a finding, at most three."""
        found = self.by_finding.get(fingerprint, [])[:3]
        links = [link(e.place, fit(e.made.principal, 80), f" ({e.level}, {e.proof})") for e in found]
        return join(("; evidence: " if links else "", join(links, ", ")))


def evidence_here(invocation: Invocation, revision: str | None = None) -> Evidence | None:
    """Return what the repository here holds, None outside of one. Raises CliGuardError."""
    try:
        repository = Repository.discover(invocation.cwd, invocation.env)
    except NotARepository:
        return None
    return collect_evidence(repository, invocation, repository.resolve(revision) if revision else None)


def collect_evidence(repository: Repository, invocation: Invocation, base: str | None = None) -> Evidence:
    """Read the approvals here and in Git's notes, check each signature, and check the audit log.

    The signers are those of the commit `base`, of HEAD for None. Raises CliGuardError.
    """
    records, base = Records(repository.state_folder), base or repository.head
    signers, logged = Signers.at_commit(repository, base), approval_events(records.audit)
    signed = read_signed({*noted_lines(repository), *records.signed_lines()})
    ids = {str(each.get("statement")): str(each.get("review_id", "")) for each in logged}
    given = []
    for number, (mark, envelope, made, level) in enumerate(sorted(signed, key=lambda each: each[2].at)[::-1]):
        good: object = f"not checked: only the newest {MOST_CHECKED} were"
        if number < MOST_CHECKED:
            good = check_statement(made, envelope, signers, None, invocation)
        proof, why = (
            (REFUSED, good) if isinstance(good, str) else (GOOD, f"by the signers at {str(base)[:10]}")
        )
        given.append(Given(made, level, proof, why, mark, ids.get(mark, "")))
    known = {each.mark for each in given}
    given += [claim_of(each) for each in logged if str(each.get("statement", "")) not in known]
    try:
        result = records.audit.verify()
    except OSError as error:
        raise CliGuardError(f"the audit log cannot be read: {error.strerror} ({error.filename})") from error
    problems, signed_up_to = check_log(result, repository, invocation)
    return Evidence(
        tuple(sorted(given, key=lambda each: each.made.at, reverse=True)),
        f"at {base[:10]}" if base else "of no commit yet",
        f"{result}; {signed_up_to or 'no line of it is signed'}",
        tuple([f"the audit log was changed: {result.problem}"] * bool(result.problem) + problems),
        (
            ("Repository", PurePath(repository.root_name).name),
            ("Made at", f"{invocation.now:%Y-%m-%d %H:%M} UTC"),
        ),
    )


def claim_of(logged: Entry) -> Given:
    """Return an entry of the audit log that no signature proves."""
    said = {name: str(value) for name, value in logged.items()}
    marks, rules = (list(map(str, v)) if isinstance(v := logged.get(n), list) else [] for n in LISTS)
    made = Statement(
        content=said.get("content") or said.get("commit", ""),
        policy=said.get("policy", ""),
        findings=dict.fromkeys(marks, ", ".join(rules)),
        principal=said.get("principal") or said.get("user", ""),
        at=said.get("at", ""),
        repository=(),
        reason=said.get("reason", ""),
        decision=said["event"],
    )
    mark = said.get("statement", "")
    return Given(
        made, said.get("level", "tty"), UNSIGNED, LOST if mark else CLAIM, mark, said.get("review_id", "")
    )


def answers_section(evidence: Evidence, commits: Mapping[str, str] | None = None) -> Section:
    """Return who approved what; `commits` are the contents that are known to be in a commit, with its id."""
    known, shown = commits or {}, evidence.given[:SHOWN]
    cards = [card_of(each, known.get(each.made.content, each.commit)) for each in shown]
    older = len(evidence.given) - len(cards)
    rest = f"and {older} older: cli-guard audit show --approvals" if older else None
    return section("answers", "Approvals", *cards, rest or (None if cards else "Nothing was approved here."))


def card_of(given: Given, commit: str) -> Markup:
    made, short = given.made, commit[:10]
    rules = fit(", ".join(sorted(set(made.findings.values()))))
    shown = (
        ("Presence", link("proof", given.level)),
        ("Decision", made.decision if given.commit else ""),
        ("Reason", fit(redact(made.reason) or "none given")),
        ("Until", made.expires[:16].replace("T", " ") or "no end"),
        ("Of", join((rules, f" ({count(len(made.findings), 'finding')})"))),
        ("Commit", link(anchor("c", commit), short) if commit else ""),
    )
    bound = {"Statement": given.mark, "Content": made.content, "Tree": made.tree, "Starts from": made.base}
    bound |= {"Policy": made.policy, "Review": given.review_id, "Files": redact(", ".join(made.blobs))}
    commands = f"\ncli-guard audit show --commit {short}" if commit else ""
    commands += f"\ncli-guard verify --range {short}^..{short}" if commit and given.mark else ""
    return fill(
        "card.html",
        place=given.place,
        who=fit(made.principal or "nobody named"),
        at=made.at[:16].replace("T", " "),
        color=COLORS[given.proof],
        proof=given.proof,
        why=fit(given.why),
        facts=facts(shown),
        bound=facts((name, fit(value)) for name, value in bound.items()),
        commands=fit(commands, lines=True),
    )


def proof_section(evidence: Evidence) -> Section:
    """Return what can be relied on, and what can be forged."""
    proofs = [each.proof for each in evidence.given]
    tally = ", ".join(f"{proofs.count(each)} {each}" for each in COLORS if each in proofs) or "none"
    color, problems = "bad" if evidence.problems else "plain", bullets(evidence.problems) or ""
    about = {"signers": evidence.signers, "log": evidence.log, "color": color, "problems": problems}
    return Section("proof", "What this proves", fill("proof.html", tally=tally, **about))
