"""The findings of a page: by what they lead to, then by rule, each with its place, lines and answer."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Finding, Severity
from cli_guard.review.render.page import markup as page
from cli_guard.review.render.page.markup import (
    LINE,
    NOTHING,
    Markup,
    PageSection,
    anchor,
    fit,
    fit_place,
    join,
    link,
    tag,
)
from cli_guard.review.render.words import count, where

# What a finding is at the end, in the order of the page, with the words of its heading.
STATES: Mapping[str, str] = {
    "deny": "Must fix",
    "review": "Needs approval",
    "answered": "Approved or explained",
    "fixed": "Fixed",
    "advise": "Advice",
}
SEVERITIES = [str(each) for each in Severity]
# 300 KB for 1,000 findings: the bytes for the texts of all, the bounds for those of one, and suggestions.
TEXTS = 130_000
MOST = 1_500
LEAST = 100
SUGGESTIONS = 20_000
FRAME = 55
MANY = 300
# A group with more findings begins folded, if none of them blocks.
OPEN = 12


@frozen
class Row:
    """A finding, one of STATES, what was answered or became of it, and links to the proof."""

    finding: Finding
    state: str
    said: str = ""
    links: Markup = NOTHING

    @property
    def rank(self) -> tuple[object, ...]:
        """Return by what it is sorted: the worst first, those of a rule together."""
        found = self.finding
        ranks = list(STATES).index(self.state), SEVERITIES.index(found.severity)
        return (
            *ranks,
            found.rule,
            found.path,
            found.line or 0,
            found.commit or "",
            found.message,
        )


@dataclass
class Space:
    """The bytes of each text, those left for suggestions, and the number of suggestions without a place."""

    text: int
    suggestions: int = SUGGESTIONS
    left_out: int = 0


def findings_section(
    rows: Iterable[Row], commits: Collection[str] = (), missing: Sequence[str] = ()
) -> PageSection:
    """Return the findings, the worst first, with the form that filters them.

    `commits` are those with a row; `missing` says which findings are not among the rows.
    """
    ordered = sorted(rows, key=lambda row: row.rank)
    if not ordered:
        return page.section("findings", "Findings", tag("p", "There are none."))
    space = Space(max(LEAST, min(MOST, TEXTS // len(ordered))))
    parts = []
    first = 1
    for state, of_state in groupby(ordered, key=lambda row: row.state):
        groups = []
        start = first
        for _, same in groupby(
            of_state, key=lambda row: (row.finding.severity, row.finding.rule)
        ):
            groups.append(group_of(group := list(same), first, space, commits))
            first += len(group)
        head = tag("h3", f"{STATES[state]}: {count(first - start, 'finding')}")
        parts.append(
            tag(
                "section",
                head,
                *groups,
                class_=f"state {state}{' many' * (len(ordered) > MANY)}",
            )
        )
    short = "long texts are cut" if space.text < MOST else ""
    more = f"{count(space.left_out, 'suggestion')} left out" if space.left_out else ""
    said = "; ".join(filter(None, (short, more)))
    note = (
        tag("p", f"On a page with so many findings: {said}. The JSON format has all.")
        if said
        else None
    )
    states = {row.state for row in ordered}
    form = page.fill(
        "filter.html",
        states=join(
            tag("option", words, value=each)
            for each, words in STATES.items()
            if each in states
        ),
    )
    absent = page.bullets(missing, class_="warn")
    return page.section("findings", "Findings", absent, form, *parts, note)


def group_of(
    rows: Sequence[Row], first: int, space: Space, commits: Collection[str]
) -> Markup:
    """Return the findings of one rule with the same state and severity; what they share is said once."""
    found = rows[0].finding
    state = rows[0].state
    messages, remedies = (
        {getattr(row.finding, name) for row in rows} for name in ("message", "remedy")
    )
    columns = {
        "Where": True,
        "Commit": any(row.finding.commit for row in rows),
        "What": len(messages) > 1
        or any(row.finding.evidence or row.finding.suggestion for row in rows),
        "Answered": any(row.said for row in rows),
    }
    used = [name for name, wanted in columns.items() if wanted]
    own = len(messages) > 1, len(remedies) > 1
    lines = (
        row_of(row, f"f{first + at}", used, own, space, commits)
        for at, row in enumerate(rows)
    )
    return page.fill(
        "group.html",
        rule=found.rule,
        state=state,
        word=STATES[state].lower(),
        number=count(len(rows), "finding"),
        open=" open" if state in ("deny", "review") or len(rows) <= OPEN else "",
        message=tag("p", fit(found.message, 600)) if not own[0] else "",
        remedy=remedy_of(found, 600) if not own[1] else "",
        heads=join(tag("th", name, scope="col", class_=name.lower()) for name in used),
        rows=join(lines, LINE),
    )


def row_of(
    row: Row,
    name: str,
    used: Sequence[str],
    own: tuple[bool, bool],
    space: Space,
    commits: Collection[str],
) -> Markup:
    found = row.finding
    commit = row.finding.commit or ""
    lines = f":{found.line}" if found.line is not None else ""
    lines += (
        f"-{found.end_line}" if lines and found.end_line not in (None, found.line) else ""
    )
    left = space.text
    place = fit_place(f"{found.path}{lines}" if found.path else where(found), left // 2)
    said = fit(row.said, left // 3)
    left -= min(len(place.encode()) + len(said.encode()), 5 * left // 6)
    known = link(anchor("c", commit), commit[:10]) if commit in commits else commit[:10]
    cells = {
        "Where": tag("th", link(name, place), scope="row"),
        "Commit": tag("td", known, class_="commit"),
        "What": tag("td", *what_of(found, own, left, space)),
        "Answered": tag("td", said, row.links),
    }
    return tag("tr", *(cells[each] for each in used), id=name)


def what_of(
    found: Finding, own: tuple[bool, bool], left: int, space: Space
) -> Iterator[Markup]:
    share = left // (own[0] + bool(found.evidence) + own[1] or 1)
    if own[0]:
        yield fit(found.message, share)
    if found.evidence:
        yield tag("code", fit(found.evidence.strip(), share, lines=True))
    if own[1]:
        yield remedy_of(found, share)
    text = page.escape((found.suggestion or "").strip("\n").expandtabs(4), lines=True)
    if text and (length := len(text.encode()) + FRAME) <= space.suggestions:
        space.suggestions -= length
        yield tag("details", tag("summary", "Suggestion"), tag("pre", text))
    elif text:
        space.left_out += 1


def remedy_of(found: Finding, most: int) -> Markup:
    return (
        tag("p", tag("strong", "What to do: "), fit(found.remedy, most))
        if found.remedy
        else NOTHING
    )
