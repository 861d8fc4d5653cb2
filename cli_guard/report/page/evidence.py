"""Who answered which finding, and how far that is proved: signed statements, as `verify` sees them, and claims.

A signature is checked now, against the signers of a commit. An entry of the audit log is a line of a local file:
whoever can write to the file can write it, so it is shown as a claim.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath

from cli_guard.approvals.heads import check_log
from cli_guard.approvals.listing import approval_events, every_signed
from cli_guard.approvals.lookup import Verifier
from cli_guard.approvals.statements import BREAK_GLASS, Statement
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Presence
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.page import markup as page
from cli_guard.review.render.page.markup import Markup, PageSection, anchor, fit, join, link
from cli_guard.review.render.words import count
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import AuditLog, Entry, readable, texts

# Each signature takes some milliseconds to check.
MOST_CHECKED = 300
SHOWN = 100
LINKS = 3
GOOD = "signature good"
REFUSED = "signed, but does not count"
UNSIGNED = "unsigned"
COLORS = {GOOD: "good", REFUSED: "bad", UNSIGNED: "warn"}
LOST = "the log names a signed statement that is neither here nor in the notes: `cli-guard signers fetch` may get it"
CLAIM = "an entry of the local audit log, which whoever can write to that file can write"


@frozen
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

    def about_only(self, marks: AbstractSet[str], contents: Collection[str]) -> "Evidence":
        """Return it with the approvals that name one of some findings, or are of one of some contents or commits."""
        given = (
            each
            for each in self.given
            if not marks.isdisjoint(each.made.findings) or each.made.content in contents
        )
        return replace(self, given=tuple(given))

    def links_to(self, fingerprint: str) -> Markup:
        """Return links to the approvals that name a finding: three, and how many more there are."""
        found = self.by_finding.get(fingerprint, [])
        links: list[Markup | str] = [
            link(e.place, fit(e.made.principal, 80), f" ({e.level}, {e.proof})")
            for e in found[:LINKS]
        ]
        if len(found) > LINKS:
            links.append(f"and {len(found) - LINKS} more below")
        return join(("; evidence: " if links else "", join(links, ", ")))

    def answers(self, commits: Mapping[str, str] | None = None) -> PageSection:
        """Return who approved what; `commits` are the contents that are known to be in a commit, with its id."""
        known = commits or {}
        shown = self.given[:SHOWN]
        cards = [card_of(e, known.get(e.made.content, e.commit)) for e in shown]
        older = len(self.given) - len(cards)
        rest = f"and {older} older: cli-guard audit show --approvals" if older else ""
        more = rest if cards else "Nothing was approved here."
        return page.section("answers", "Approvals", *cards, more)

    def proof(self) -> PageSection:
        """Return what can be relied on, and what can be forged."""
        proofs = [each.proof for each in self.given]
        tally = [f"{proofs.count(each)} {each}" for each in COLORS if each in proofs]
        text = page.fill(
            "proof.html",
            tally=", ".join(tally) or "none",
            signers=self.signers,
            log=self.log,
            color="bad" if self.problems else "plain",
            problems=page.bullets(self.problems) or "",
        )
        return PageSection("proof", "What this proves", text)


def collect_evidence(
    repository: Repository, invocation: Invocation, base: str | None
) -> Evidence:
    """Read the approvals here and in Git's notes, check each signature, and check the audit log.

    The signers are those of the commit `base`, of HEAD for None. Raises CliGuardError.
    """
    log = AuditLog(repository.state_folder)
    base = base or repository.head
    verifier = Verifier(repository, base, invocation)
    logged = approval_events(log)
    ids = {str(each.get("statement")): str(each.get("review_id", "")) for each in logged}
    signed = sorted(every_signed(repository), key=lambda each: each.statement.at)[::-1]
    given = []
    for number, each in enumerate(signed):
        refused: object = f"not checked: only the newest {MOST_CHECKED} were"
        if number < MOST_CHECKED:
            refused = verifier(each)
        proof = GOOD
        why = f"by a signer at {str(base)[:10]}"
        if isinstance(refused, str):
            proof = REFUSED
            why = refused
        level = str(each.signature.presence)
        review_id = ids.get(each.digest, "")
        given.append(Given(each.statement, level, proof, why, each.digest, review_id))
    known = {each.digest for each in signed}
    given += [
        claim_of(each) for each in logged if str(each.get("statement", "")) not in known
    ]
    with readable():
        result = log.verify()
    name = PurePath(repository.root_name).name
    made_at = f"{invocation.now:%Y-%m-%d %H:%M} UTC"
    about = (("Repository", name), ("Made", made_at))
    problems, vouched = check_log(result, repository, invocation)
    return Evidence(
        tuple(sorted(given, key=lambda each: each.made.at, reverse=True)),
        f"at {base[:10]}" if base else "of no commit yet",
        f"{result}; {vouched}",
        tuple(
            [f"the audit log was changed: {result.problem}"] * bool(result.problem)
            + problems
        ),
        about,
    )


def claim_of(logged: Entry) -> Given:
    """Return an entry of the audit log that no signature proves."""
    said = defaultdict(str, {name: str(value) for name, value in logged.items() if value})
    marks = texts(logged, "fingerprints")
    rules = texts(logged, "approved_rules")
    who = said["principal"] or said["author"] or said["user"]
    content = said["content"] or said["commit"]
    mark = said["statement"]
    level = f"{said['level']}, as the log says" if said["level"] else "tty"
    made = Statement(
        content, said["policy"], dict.fromkeys(marks, ", ".join(rules)), who, said["at"], ()
    )
    made = replace(made, reason=said["reason"], decision=said["event"])
    why = LOST if mark and said["level"] != Presence.TTY else CLAIM
    return Given(made, level, UNSIGNED, why, mark, said["review_id"])


def card_of(given: Given, commit: str) -> Markup:
    made = given.made
    none = "none given"
    shown = {
        "who": made.principal or none,
        "at": made.at[:16].replace("T", " "),
        "why": given.why,
        "level": given.level,
        "reason": redact(made.reason) or none,
        "until": made.expires[:16].replace("T", " ") or "no end",
        "rules": ", ".join(sorted(set(made.findings.values()))),
        "files": redact(", ".join(made.blobs)) or none,
    }
    bound = {
        name: getattr(made, name) or none
        for name in ("decision", "content", "tree", "base", "policy")
    }
    bound |= {
        "mark": given.mark or none,
        "review": given.review_id or none,
        "proof": given.proof,
    }
    return page.fill(
        "card.html",
        place=given.place,
        color=COLORS[given.proof],
        number=count(len(made.findings), "finding"),
        commit=link(anchor("c", commit), commit[:10]) if commit else "not known here",
        revision=commit[:10] or "COMMIT",
        **{name: fit(text) for name, text in (shown | bound).items()},
    )
