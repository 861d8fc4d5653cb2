"""The findings of a page: by what they lead to, then by rule, each with its place, lines and answer."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from cli_guard.model import Finding, Severity
from cli_guard.review.page.markup import LINE, Markup, anchor, escape, fit, join, link, section, tag
from cli_guard.review.render.words import count, where

# What a finding is at the end, in the order of the page, with the words of its heading and its tag.
STATES: Mapping[str, tuple[str, str]] = {
    "deny": ("To fix", "denied"),
    "review": ("To approve", "needs a person"),
    "answered": ("Let in", "answered"),
    "fixed": ("Fixed", "fixed"),
    "advise": ("Remarks", "advice"),
}
SEVERITIES = [str(each) for each in Severity]
# 300 KB for 1,000 findings: the bytes for the texts of all, and the bounds for those of one.
TEXTS = 145_000
MOST, LEAST = 600, 40
SUGGESTIONS = 40_000
# Remarks are folded if they are many.
OPEN_REMARKS = 12
NOTHING = Markup()


@dataclass(frozen=True, slots=True)
class Row:
    """A finding, one of STATES, and how it was answered: HTML, empty if it was not."""

    finding: Finding
    state: str
    answer: Markup = NOTHING

    @property
    def rank(self) -> tuple[int, int, str, str, int, str]:
        """Return by what it is sorted: the worst first, those of a rule together."""
        found = self.finding
        ranks = list(STATES).index(self.state), SEVERITIES.index(found.severity)
        return (*ranks, found.rule, found.path, found.line or 0, found.commit or "")


@dataclass
class Space:
    """The bytes that are left for suggestions, and the bytes of each text."""

    text: int
    suggestions: int = SUGGESTIONS
    left_out: int = 0


def findings_section(rows: Iterable[Row], commits: Collection[str] = ()) -> Markup:
    """Return all findings, the worst first, with the form that filters them; `commits` are those with a row."""
    ordered = sorted(rows, key=lambda row: row.rank)
    space = Space(max(LEAST, min(MOST, TEXTS // max(len(ordered), 1))))
    numbers = {id(row): f"f{number}" for number, row in enumerate(ordered, 1)}
    parts = []
    for state, found in groupby(ordered, key=lambda row: row.state):
        of_state = list(found)
        by_rule = groupby(of_state, key=lambda row: (row.finding.severity, row.finding.rule))
        groups = [group_of(list(same), numbers, space, commits) for _, same in by_rule]
        head = tag("h3", f"{STATES[state][0]}: {count(len(of_state), 'finding')}")
        parts.append(tag("section", head, *groups, class_=f"state {state}"))
    if not parts:
        return section("findings", "Findings", tag("p", "There are none."))
    short = space.text < MOST and "Long texts are cut on a page with so many findings. "
    more = space.left_out and f"{count(space.left_out, 'suggestion')} left out. "
    note = f"{short or ''}{more or ''}The JSON format has everything." if short or more else None
    return section(
        "findings", "Findings", filter_form(ordered), *parts, note and tag("p", note, class_="soft")
    )


def filter_form(rows: Sequence[Row]) -> Markup:
    """Return the form, which the script shows: without it, it would do nothing."""

    def field(name: str, word: str, **more: str) -> Markup:
        return tag("label", word, tag("input", name=name, type="search", autocomplete="off", **more))

    def choice(name: str, word: str, values: Iterable[tuple[str, str]]) -> Markup:
        options = (tag("option", label, value=value) for value, label in (("", "any"), *values))
        return tag("label", word, tag("select", *options, name=name))

    severities = {str(row.finding.severity) for row in rows}
    states = {row.state for row in rows}
    return tag(
        "form",
        field("rule", "Rule"),
        field("path", "Path"),
        choice("severity", "Severity", ((each, each) for each in SEVERITIES if each in severities)),
        field("commit", "Commit") if any(row.finding.commit for row in rows) else hidden("commit"),
        choice("state", "State", ((each, words[0]) for each, words in STATES.items() if each in states)),
        tag("button", "Show all", type="reset"),
        tag("output", name="count", role="status"),
        id="filter",
        hidden=True,
        role="search",
        aria_label="Filter the findings",
    )


def hidden(name: str) -> Markup:
    return tag("input", name=name, type="hidden")


def group_of(
    rows: Sequence[Row], numbers: Mapping[int, str], space: Space, commits: Collection[str]
) -> Markup:
    """Return the findings of one rule with the same state and severity; what they share is said once."""
    found = rows[0].finding
    said = {row.finding.message for row in rows}
    remedies = {row.finding.remedy for row in rows if row.finding.remedy}
    summary = tag(
        "summary",
        tag("h4", tag("code", found.rule)),
        tag("span", STATES[rows[0].state][1], class_="tag"),
        " \N{MIDDLE DOT} ",
        tag("span", found.severity, class_=str(found.severity)),
        f" \N{MIDDLE DOT} {count(len(rows), 'finding')}",
    )
    shared = (
        tag("p", fit(said.pop(), MOST)) if len(said) == 1 else None,
        tag("p", tag("strong", "What to do: "), fit(remedies.pop(), MOST)) if len(remedies) == 1 else None,
    )
    columns = {
        "Where": True,
        "Commit": any(row.finding.commit for row in rows),
        "What": bool(said or remedies) or any(row.finding.evidence or row.finding.suggestion for row in rows),
        "Answered": any(row.answer for row in rows),
    }
    used = [name for name, wanted in columns.items() if wanted]
    head = tag("thead", tag("tr", *(tag("th", name, scope="col", class_=name.lower()) for name in used)))
    lines = (
        row_of(row, numbers[id(row)], used, len(said) > 0, len(remedies) > 0, space, commits) for row in rows
    )
    inner = tag("table", head, tag("tbody", join(lines, LINE)), class_="findings", aria_label=found.rule)
    return tag(
        "details",
        summary,
        *shared,
        inner,
        class_="group",
        open=rows[0].state in ("deny", "review") or len(rows) <= OPEN_REMARKS,
        data_rule=found.rule,
        data_severity=str(found.severity),
        data_state=rows[0].state,
    )


def row_of(
    row: Row,
    number: str,
    used: Sequence[str],
    own_message: bool,
    own_remedy: bool,
    space: Space,
    commits: Collection[str],
) -> Markup:
    found = row.finding
    cells = {
        "Where": tag("th", link(number, fit(place_of(found), space.text), class_="place"), scope="row"),
        "Commit": commit_cell(found, commits),
        "What": tag("td", *what_cell(found, own_message, own_remedy, space)),
        "Answered": tag("td", row.answer),
    }
    return tag("tr", *(cells[name] for name in used), id=number)


def place_of(found: Finding) -> str:
    """Return the path and the lines of a finding; without a path, what it is about."""
    if not found.path:
        return where(found)
    lines = f":{found.line}" if found.line is not None else ""
    return f"{found.path}{lines}{f'-{found.end_line}' if lines and found.end_line not in (None, found.line) else ''}"


def commit_cell(found: Finding, commits: Collection[str]) -> Markup:
    commit = found.commit or ""
    shown = link(anchor("c", commit), commit[:10]) if commit in commits else commit[:10]
    return tag("td", shown, class_="commit")


def what_cell(found: Finding, own_message: bool, own_remedy: bool, space: Space) -> Iterator[Markup]:
    share = space.text // (own_message + bool(found.evidence) or 1)
    if own_message:
        yield fit(found.message, share)
    if found.evidence:
        yield tag("code", fit(found.evidence.strip(), share, lines=True))
    if own_remedy and found.remedy:
        yield tag("p", tag("strong", "What to do: "), fit(found.remedy, share))
    if found.suggestion:
        text = escape(found.suggestion.strip("\n").expandtabs(4), lines=True)
        if len(text.encode()) > space.suggestions:
            space.left_out += 1
            return
        space.suggestions -= len(text.encode())
        yield tag("details", tag("summary", "Suggestion"), tag("pre", text))
