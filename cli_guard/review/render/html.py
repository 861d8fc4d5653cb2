"""The report as one HTML file that loads nothing: for a browser, an auditor, a printer."""

from cli_guard.model import Suppressed
from cli_guard.review.page.evidence import Evidence, answers_section, proof_section
from cli_guard.review.page.findings import Row, findings_section
from cli_guard.review.page.markup import (
    SHOWN,
    Markup,
    bullets,
    document,
    facts,
    fit,
    join,
    section,
    table,
    tag,
)
from cli_guard.review.render.review import Review
from cli_guard.review.render.text import ANSWERED
from cli_guard.review.render.words import coverage, next_steps, tally, verdict


def render(review: Review, evidence: Evidence | None = None) -> str:
    """Render a page; `evidence` is what a repository holds about who answered which finding."""
    sentence, *steps = next_steps(review)
    shown = (("Event", review.event), ("Findings", tally(review) or "none"), ("Coverage", coverage(review)))
    head = (
        tag("p", fit(sentence), ":" if steps else "", class_="lead"),
        *(tag("pre", fit(step)) for step in steps),
        tag("dl", facts((*shown, *(evidence.about if evidence else ())))),
    )
    rows = [Row(each.finding, str(each.disposition)) for each in review.findings]
    rows += [Row(each.finding, "answered", answer_of(each, evidence)) for each in review.suppressed]
    skipped, unread = review.skipped, ", ".join(dict.fromkeys(review.secrets_only))
    more = f"and {len(skipped) - SHOWN} more: the JSON format lists all"
    lines = [more] * (len(skipped) > SHOWN) + [f"searched for secrets only: files in {unread}"] * bool(unread)
    reasons = [(fit(each.path), fit(each.reason)) for each in skipped[:SHOWN]]
    listed = table("Skipped", ("What", "Why"), reasons) if skipped else tag("p", "Nothing was skipped.")
    sections = [
        findings_section(rows),
        *([answers_section(evidence)] if evidence else ()),
        section("unread", "Not reviewed", listed, bullets((*lines, *review.notes))),
        *([proof_section(evidence)] if evidence else ()),
    ]
    return document(f"cli-guard: {verdict(review)}", str(review.decision), head, sections)


def answer_of(answered: Suppressed, evidence: Evidence | None) -> Markup:
    """Return what answers a finding, with links to who approved it."""
    how, new = ANSWERED.get(answered.by, answered.by), ", new in this change" * answered.new
    approved = evidence and answered.by == "approval"
    links = evidence.links_to(answered.finding.fingerprint) if evidence and approved else ""
    return join((how, new, ": ", fit(answered.reason or "no reason given"), links))
