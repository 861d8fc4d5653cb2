"""Reads a request about the recorded history: "who last touched ...", "when was ... removed", "what changed since ...".

The forms are in rules/history.toml. What asks for code or for a command, in the present tense or with "how", is none.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from cli_guard.assistant.request_names import Names
from cli_guard.assistant.stems import stems_of
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_patterns, read_table

TABLE = "history.toml"
# A question is short; the forms are not tried on more.
LONGEST = 400
KINDS = "blame who when why files which list changed".split()
SENTENCE_END = re.compile(r"[.?!;]\s+(?=[A-Za-z])|\n")
NUMBER = re.compile(r"\d{1,6}(?:\.\d+)?")
WORD = re.compile(r"[^\W_][\w.'-]*\w|[^\W_]")


@frozen
class HistoryRequest:
    """What a request asks of the history.

    `kind` is one of `KINDS`. `since` and `until` are revisions or dates in Git's words (git-log(1), `--since`),
    `revision` is one commit. `texts` are quoted, `words` are what else is asked about.
    `wants` is what became of it: added, removed, renamed or "" (changed).
    """

    kind: str
    names: Names
    texts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    revision: str = ""
    since: str = ""
    until: str = ""
    author: str = ""
    count: int = 0
    place: tuple[str, int, int] | None = None
    wants: str = ""


@cache
def forms(section: str) -> Mapping[str, re.Pattern[str]]:
    return read_patterns(TABLE, section)


def read_history_request(text: str, names: Names) -> HistoryRequest | None:
    """Read a request; None if it is not about the history, or is more than one sentence."""
    plain = " ".join(text.split()).rstrip("?!. ")
    if (
        not plain
        or len(plain) > LONGEST
        or SENTENCE_END.search(text.strip().rstrip("?!. "))
    ):
        return None
    lower = plain.lower()
    start = opening.end() if (opening := forms("asks")["opening"].match(lower)) else 0
    kind = next((each for each in KINDS if forms("asks")[each].match(lower, start)), "")
    if not kind or forms("unless")["wording"].search(lower, start):
        return None
    found = {name: form.search(plain) for name, form in forms("parts").items()}
    request = read_parts(kind, names, plain, found)
    # "What happened?", "show the changes": nothing says that the past is meant.
    is_bounded = request.revision or request.since or request.until or request.author
    has_subject = (
        names.paths
        or names.missing
        or names.symbols
        or request.texts
        or request.words
        or request.place
    )
    return (
        request
        if is_bounded or has_subject or kind == "list" or "history" in lower
        else None
    )


def read_parts(
    kind: str, names: Names, plain: str, found: Mapping[str, re.Match[str] | None]
) -> HistoryRequest:
    """Read the bounds of a request and what it is about."""

    def part(form: str, *groups: str) -> str:
        match = found[form]
        return next(
            (match[each] for each in groups or ("at",) if match and match[each]), ""
        )

    ends = part("span", "a", "c"), part("span", "b", "d")
    if all(NUMBER.fullmatch(each) for each in ends):
        ends = ("", "")  # no span, or values: "from 600 to 900"
    place = None
    path = part("place", "path")
    if first := part("place", "line", "number"):
        known = next(
            (each for each in (*names.paths, *names.missing) if each.endswith(path)), path
        )
        place = (known, int(first), int(part("place", "last") or first)) if known else None
    is_span = any(ends) or found["since"] or found["count"]
    revision = "" if is_span else part("revision") or "HEAD" * (found["one"] is not None)
    author = part("author", "name", "plain", "who", "own")
    author = "" if author in (*ends, part("revision")) else author
    taken = {*names.paths, *names.missing, *names.symbols, *names.outside}
    quoted = [next(filter(None, each)) for each in forms("parts")["quoted"].findall(plain)]
    texts = tuple(
        each
        for each in quoted
        if each not in taken and each not in (revision, author, *ends)
    )
    number = part("count", "n", "m")
    said = ("count", "period", "since", "until", *(("span",) if any(ends) else ()))
    rest = plain
    for said_of_it in (
        *(match[0] for form in said if (match := found[form])),
        *texts,
        *taken,
        author,
        revision,
    ):
        rest = (
            re.sub(rf"(?<!\w){re.escape(said_of_it)}(?!\w)", " ", rest)
            if said_of_it
            else rest
        )
    return HistoryRequest(
        kind,
        names,
        texts,
        tuple(words_in(rest)),
        revision,
        ends[0] or read_date(part("since")) or read_period(found["period"]),
        ends[1] or ("" if any(ends) else read_date(part("until"))),
        author,
        read_number(number) if number else 0,
        place,
        next(
            (each for each in ("renamed", "removed") if found[each]),
            "added" if found["first"] else "",
        ),
    )


def words_in(text: str) -> Iterator[str]:
    """Yield the words that say what a request is about, without those that only ask."""
    ignored = frozenset(read_table(TABLE)["words"]["ignored"].split())
    words = (word.removesuffix("'s").strip("'.") for word in WORD.findall(text))
    yield from dict.fromkeys(
        each for each in words if each.lower() not in ignored and stems_of(each)
    )


def read_number(word: str) -> int:
    numbers: Mapping[str, int] = read_table(TABLE)["words"]["numbers"]
    return int(word) if word.isdigit() else numbers.get(word.lower(), 1)


def read_period(found: re.Match[str] | None) -> str:
    """Return the beginning of a period as a date of Git's: "last week" begins 1 week ago."""
    if not found or found["day"]:
        return read_date(found["day"].lower()) if found else ""
    if found["ago"]:
        return f"{found['ago']} {found['what']} ago"
    return f"{read_number(found['n'] or '1')} {found['unit']} ago"


def read_date(word: str) -> str:
    """Return "this week" and "today" as Git reads them; a revision and any other date stay."""
    if word in ("today", "yesterday"):
        return "midnight" if word == "today" else "yesterday.midnight"
    kind, _, what = word.partition(" ")
    return f"1 {what} ago" if kind == "this" or what in ("week", "month", "year") else word
