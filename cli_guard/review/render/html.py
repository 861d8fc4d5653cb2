"""The report as one HTML file that loads nothing: for a browser, an auditor, a printer."""

from typing import Protocol

from cli_guard.model import Suppressed
from cli_guard.review.render.page import markup as page
from cli_guard.review.render.page.findings import Row, findings_section
from cli_guard.review.render.page.markup import (
    SHOWN,
    Markup,
    PageSection,
    fit,
    fit_place,
    tag,
)
from cli_guard.review.render.review import Review
from cli_guard.review.render.words import (
    ANSWERED,
    coverage,
    gravest_first,
    next_steps,
    tally,
    verdict,
)


class EvidenceSource(Protocol):
    """What a repository holds about who answered which finding (`cli_guard.report.page.evidence`)."""

    @property
    def about(self) -> tuple[tuple[str, object], ...]:
        """Return facts for the head of the page."""

    def links_to(self, fingerprint: str) -> Markup:
        """Return links to the approvals that name a finding."""

    def answers(self) -> PageSection:
        """Return who approved what."""

    def proof(self) -> PageSection:
        """Return what can be relied on."""


def render(review: Review, evidence: EvidenceSource | None = None) -> str:
    """Render a page; with `evidence` it says who answered which finding."""
    sentence, *steps = next_steps(review)
    shown = (
        ("Event", review.event),
        ("Findings", tally(review) or "none"),
        ("Coverage", coverage(review)),
    )
    head = (
        tag("p", fit(sentence), ":" if steps else "", class_="lead"),
        tag("pre", page.join(map(fit, steps), page.LINE)) if steps else None,
        tag("dl", page.facts((*shown, *(evidence.about if evidence else ())))),
    )
    rows = [
        Row(review.with_origin(each.finding), str(each.disposition))
        for each in review.findings
    ]
    for each in review.suppressed:
        links = evidence.links_to(each.finding.fingerprint) if evidence else Markup()
        rows.append(Row(each.finding, "answered", answer_of(each), links))
    skipped = gravest_first(review.skipped)
    unread = ", ".join(dict.fromkeys(review.secrets_only))
    more = f"and {len(skipped) - SHOWN} more: the JSON format lists all"
    lines = [more] * (len(skipped) > SHOWN) + [
        f"searched for secrets only: files in {unread}"
    ] * bool(unread)
    reasons = [(fit_place(each.path), fit(each.reason)) for each in skipped[:SHOWN]]
    listed = (
        page.table("Skipped", ("What", "Why"), reasons)
        if skipped
        else tag("p", "Nothing was skipped.")
    )
    sections = [
        findings_section(rows),
        *([evidence.answers()] if evidence else ()),
        page.section(
            "unread", "Not reviewed", listed, page.bullets((*lines, *review.notes))
        ),
        *([evidence.proof()] if evidence else ()),
    ]
    return page.document(
        f"cli-guard: {verdict(review)}", str(review.decision), head, sections
    )


def answer_of(answered: Suppressed) -> str:
    """Return what answers a finding, and the reason."""
    how = ANSWERED.get(answered.by, answered.by)
    new = ", new in this change" * answered.new
    return f"{how}{new}: {answered.reason or 'no reason given'}"
