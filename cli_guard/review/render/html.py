"""The report as one HTML file that loads nothing: for a browser, an auditor, a printer."""

from collections.abc import Iterator

from cli_guard.model import Skipped, Suppressed
from cli_guard.review.page.document import document
from cli_guard.review.page.evidence import Evidence, answers_section, proof_section
from cli_guard.review.page.findings import Row, findings_section
from cli_guard.review.page.markup import Markup, facts, fit, join, section, table, tag
from cli_guard.review.render.review import Review
from cli_guard.review.render.text import ANSWERED
from cli_guard.review.render.words import coverage, next_steps, tally, verdict

LONGEST = 600
SKIPPED_SHOWN = 500


def render(review: Review, evidence: Evidence | None = None) -> str:
    """Render a page; `evidence` is what a repository holds about who answered which finding."""
    sentence, *steps = next_steps(review)
    head = (
        tag("p", fit(sentence, LONGEST), ":" if steps else "", class_="lead"),
        *(tag("pre", fit(step, LONGEST)) for step in steps),
        facts(
            (
                ("Event", review.event),
                ("Findings", tally(review) or "none"),
                ("Coverage", coverage(review)),
                *(evidence.about if evidence else ()),
            )
        ),
    )
    rows = [Row(each.finding, str(each.disposition)) for each in review.findings]
    rows += [Row(each.finding, "answered", answer_of(each, evidence)) for each in review.suppressed]
    sections = [("findings", "Findings", findings_section(rows))]
    if evidence:
        sections.append(("answers", "Approvals", answers_section(evidence)))
    sections.append(("unread", "Not reviewed", unread_section(review)))
    if evidence:
        sections.append(("proof", "What this proves", proof_section(evidence)))
    return document(f"cli-guard: {verdict(review)}", str(review.decision), head, sections)


def answer_of(answered: Suppressed, evidence: Evidence | None) -> Markup:
    """Return what answers a finding, with links to who approved it."""
    how = ANSWERED.get(answered.by, answered.by)
    new = ", new in this change" if answered.new else ""
    said = fit(answered.reason or "no reason given", LONGEST)
    links = evidence.links_to(answered.finding.fingerprint) if evidence and answered.by == "approval" else ()
    return join((f"{how}{new}: ", said, *(join((" ", each)) for each in links)))


def unread_section(review: Review) -> Markup:
    """Return what was not reviewed, or only in part, and the remarks of the run."""
    return section("unread", "Not reviewed", *unread_parts(review.skipped, review))


def unread_parts(skipped: tuple[Skipped, ...], review: Review) -> Iterator[Markup]:
    if not skipped:
        yield tag("p", "Nothing was skipped." if review.files else "There was nothing to review.")
    else:
        rows = (
            tag("tr", tag("th", fit(each.path, 240), scope="row"), tag("td", fit(each.reason, 240)))
            for each in skipped[:SKIPPED_SHOWN]
        )
        yield table(f"{len(skipped)} skipped", ("What", "Why"), rows)
        if len(skipped) > SKIPPED_SHOWN:
            yield tag("p", f"and {len(skipped) - SKIPPED_SHOWN} more: the JSON format lists all")
    if review.secrets_only:
        languages = ", ".join(dict.fromkeys(review.secrets_only))
        yield tag("p", f"Searched for secrets only, in {len(review.secrets_only)} files: {languages}")
    if review.notes:
        yield tag("ul", *(tag("li", fit(note, LONGEST)) for note in review.notes))
