"""The page of a history: commits and decisions, the life of each finding, approvals, policy, what was not reviewed."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from cli_guard.model import Category, Confidence, Finding, Severity
from cli_guard.report.lives import APPROVED, FIXED, OPEN, Life
from cli_guard.report.page.evidence import Evidence
from cli_guard.report.page.history import (
    DECISIONS,
    DOUBTFUL,
    MOST,
    PageHistory,
    ReviewedCommit,
)
from cli_guard.review.render.html import answer_of
from cli_guard.review.render.page import markup as page
from cli_guard.review.render.page.findings import STATES, Row, findings_section
from cli_guard.review.render.page.markup import (
    Markup,
    PageSection,
    anchor,
    fit,
    join,
    link,
    section,
    tag,
)
from cli_guard.review.render.words import count
from cli_guard.review.store import MOST_LISTED
from cli_guard.rules.catalog import load_all

# Of the drawing: its columns at most, and the pixels of a cell, of a digit in bold, of a row, of its words and of the
# label below.
COLUMNS = 48
CELL = 18
DIGIT = 7
ROW = 24
WORDS = 230
LABEL = 200
POLICY = {
    "stronger": "stronger",
    "policy-weakened": "weaker",
    "policy-hook-removed": "weaker",
}
POLICY |= {
    "policy-suppression-added": "answer",
    "policy-signers-changed": "signers",
    "broken": "unreadable",
}


def render(history: PageHistory) -> str:
    """Render the page of a history."""
    commits = history.commits
    evidence = history.evidence
    ids = {each.oid for each in history.commits}
    number = Counter(each.decision for each in commits)
    told = [f"{number[each]} {words}" for each, words in DECISIONS.items() if number[each]]
    said = f"{count(len(commits), 'commit')}: {', '.join(told)}." if told else "No commits."
    span = f"{commits[0].at[:10]} to {commits[-1].at[:10]}" if commits else "no commits"
    shown = (("Span", span + ", older commits left out" * history.older), *evidence.about)
    head = (
        tag("p", said, class_="lead"),
        page.bullets(evidence.problems, class_="bad"),
        tag("dl", page.facts(shown)),
    )
    sections = (
        commits_section(commits),
        findings_section(rows_of(history, ids), ids, unlisted_notes(history)),
        evidence.answers(history.contents),
        listing(
            "policy",
            "Policy",
            "Weaker and stronger",
            "It did not change.",
            policy_rows(history),
        ),
        listing(
            "unread",
            "Not reviewed",
            "Without a review, or in part",
            "All was reviewed.",
            unread_rows(history),
        ),
        evidence.proof(),
    )
    return page.document("cli-guard: report", verdict_on(number, evidence), head, sections)


def verdict_on(number: Counter[str], evidence: Evidence) -> str:
    """Return the colour of the head. A commit from elsewhere, of which nothing is known here, is no alarm."""
    if evidence.problems:
        return "deny"
    if number["against"] or number["skipped"]:
        return "review"
    return "unknown" if number["unreviewed"] else "allow"


def commit_link(oid: str) -> Markup:
    return link(anchor("c", oid), oid[:10])


def listing(
    name: str, title: str, caption: str, none: str, rows: Iterator[tuple[str, str, str]]
) -> PageSection:
    """Return what was the case in commits, newest first: the commit, what, and more words."""
    found = [(commit_link(oid), what, fit(words)) for oid, what, words in rows][::-1]
    more = f"and {len(found) - page.SHOWN} older" if len(found) > page.SHOWN else None
    shown = page.table(caption, ("Commit", "What", "More"), found[: page.SHOWN])
    return section(name, title, shown if found else tag("p", none), more)


def policy_rows(history: PageHistory) -> Iterator[tuple[str, str, str]]:
    for oid, what, said in history.policy:
        yield (
            oid,
            POLICY.get(what, what),
            f"{'without this commit: ' * (what == 'stronger')}{said}",
        )


def unread_rows(history: PageHistory) -> Iterator[tuple[str, str, str]]:
    yield from ((oid, "not read in full", skipped) for oid, skipped in history.skipped)
    doubtful = (each for each in history.commits if each.decision in DOUBTFUL)
    yield from ((each.oid, DECISIONS[each.decision], each.subject) for each in doubtful)


def unlisted_notes(history: PageHistory) -> list[str]:
    """Say which findings are not on the page, the newest first, and what shows them; and which have no commit there."""
    notes = []
    review = history.review
    kinds = (review.findings, review.suppressed) if review else ()
    if any(len(each) > MOST for each in kinds):
        notes.append(f"the commit of a finding was looked for {MOST} times of each kind")
    newest = history.unlisted[::-1]
    for oid, number in newest[: page.SHOWN]:
        where = f"commit {oid[:10]}" if oid else "a change that was not recorded"
        rest = f": cli-guard review --commit {oid[:10]} -v shows all" if oid else ""
        notes.append(
            f"of the {number:,} findings of {where} the audit log lists {MOST_LISTED:,}{rest}"
        )
    if len(newest) > page.SHOWN:
        notes.append(f"and of {len(newest) - page.SHOWN} older reviews")
    return notes


def commits_section(commits: Sequence[ReviewedCommit]) -> PageSection:
    if not commits:
        return section("commits", "Commits", tag("p", "There are none in this span."))
    newest = commits[::-1]
    rows = []
    for each in newest:
        before = (f"{number} x {DECISIONS[what]}" for what, number in each.attempts.items())
        at = tag("time", each.at[:16].replace("T", " "))
        how = "; ".join((DECISIONS[each.decision], *before))
        rows.append((each.oid[:10], at, fit(each.author, 80), fit(each.subject, 120), how))
    heads = ("Commit", "Committed", "Author", "Subject", "Review")
    listed = page.table(
        "Commits, newest first", heads, rows, [anchor("c", each.oid) for each in newest]
    )
    return section("commits", "Commits", picture(commits), listed)


def picture(commits: Sequence[ReviewedCommit]) -> Markup:
    """Return commits x decisions as a drawing: a column is a commit, or some, and a cell says how many."""
    size = -(-len(commits) // COLUMNS)
    cells = []
    totals = []
    groups = [commits[at : at + size] for at in range(0, len(commits), size)]
    tallies = [Counter(each.decision for each in group) for group in groups]
    for tally, group in zip(tallies, groups, strict=True):
        for each in group:
            tally.update(each.attempts)
    most = max((number for tally in tallies for number in tally.values()), default=0)
    cell = max(CELL, DIGIT * len(str(most)) + 8)
    for line, (decision, words) in enumerate(DECISIONS.items()):
        top = line * ROW
        cells.append(tag("text", words, x=0, y=top + 16))
        if total := sum(tally[decision] for tally in tallies):
            totals.append(f"{total} {words}")
        for column, tally in enumerate(tallies):
            x = WORDS + column * cell
            number = tally[decision]
            if number:
                size_of = {"width": cell - 3, "height": ROW - 6, "rx": 3}
                cells.append(tag("rect", x=x, y=top + 3, class_=decision, **size_of))
            if number > 1:
                middle = x + (cell - 3) // 2
                cells.append(tag("text", number, x=middle, y=top + 16, class_="number"))
    width = WORDS + max(len(groups) * cell, LABEL)
    height = len(DECISIONS) * ROW + 18
    about = {
        "first": commits[0].at[:10],
        "each": count(size, "commit"),
        "totals": ", ".join(totals),
    }
    return page.fill(
        "picture.html", width=width, height=height, middle=WORDS, cells=join(cells), **about
    )


def rows_of(history: PageHistory, ids: Collection[str]) -> Iterator[Row]:
    """Yield the findings: those of the review of the range, then those that only the log has."""
    lives = {each.fingerprint: each for each in history.lives}
    review = history.review
    evidence = history.evidence
    for judged in review.findings if review else ():
        life = lives.pop(judged.finding.fingerprint, None)
        told = (
            life_of(life, evidence, ids)
            if life
            else ("not in the audit log here", page.NOTHING)
        )
        yield Row(judged.finding, judged.disposition, *told)
    for answered in review.suppressed if review else ():
        life = lives.pop(answered.finding.fingerprint, None)
        found = answered.finding
        said, links = (
            life_of(life, evidence, ids)
            if life
            else ("", evidence.links_to(found.fingerprint))
        )
        more = answer_of(answered) if not life or life.ended != APPROVED else ""
        yield Row(found, "answered", ". ".join(filter(None, (more, said))), links)
    ends = {FIXED: "fixed", OPEN: ""}
    rules = load_all()
    for life in lives.values():
        rule = rules.get(life.rule)
        severity = Severity.INFO
        title, remedy = (rule.title, rule.remedy) if rule else ("", "")
        if life.severity in set(Severity):
            severity = Severity(life.severity)
        kinds = Category.RISK, severity, Confidence.HIGH
        found = Finding(
            life.rule, *kinds, life.path, life.line, title, remedy, commit=life.commit
        )
        state = ends.get(life.ended, "answered") or life.decision
        yield Row(
            found, state if state in STATES else "advise", *life_of(life, evidence, ids)
        )


def life_of(life: Life, evidence: Evidence, ids: Collection[str]) -> tuple[str, Markup]:
    """Return the life of a finding: found, and how it ended; and links to who let it in, or to what fixed it."""
    born = f"Found {life.at[:16].replace('T', ' ')} by {life.who}"
    if life.ended == OPEN:
        return f"{born}; open", page.NOTHING
    how = life.ended_how
    level = f" ({life.level})" if life.level else ""
    by = f" by {life.ended_by}" if life.ended_by else ""
    until = f", until {life.until[:10]}" if life.until else ""
    ended = f"{life.ended}{by}{level} {life.ended_at[:16].replace('T', ' ')}{until}"
    if life.ended == APPROVED:
        return f"{born}; {ended}", evidence.links_to(life.fingerprint)
    if how[3:] in ids:
        return f"{born}; {ended}", join((" in ", commit_link(how[3:])))
    return f"{born}; {ended}{f' ({how[:20]})' if how else ''}", page.NOTHING
