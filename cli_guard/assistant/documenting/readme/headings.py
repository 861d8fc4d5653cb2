"""The headings of a README, where a new section belongs among them, and how this file writes one."""

import re
from collections import Counter
from dataclasses import dataclass

ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*(#*)[ \t]*$")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
UNDERLINE = re.compile(r"^([=\-~^\"'`+*#:.])\1{2,}\s*$")
# The order in which readers expect the sections; what is found in a heading tells its place.
ORDER = (
    ("installation", re.compile(r"\b(install\w*|set ?up|requirements|prerequisites)\b", re.I)),
    ("usage", re.compile(r"\b(usage|how to use|using|examples?|quick ?start|getting started)\b", re.I)),
    ("command line", re.compile(r"\b(command[- ]?line|cli|commands|options)\b", re.I)),
    ("configuration", re.compile(r"\b(config\w*|settings?|environment)\b", re.I)),
    ("testing", re.compile(r"\b(test(s|ing)?)\b", re.I)),
    ("development", re.compile(r"\b(develop\w*|building|hacking)\b", re.I)),
    ("end", re.compile(r"\b(contribut\w*|changelog|licen[cs]e|credits|authors?|support|faq|links|security)\b", re.I)),
)  # fmt: skip
# What a reader looks for first stands first, where no heading tells a better place.
EARLY = frozenset({"installation", "usage"})
RANK = {topic: place for place, (topic, _) in enumerate(ORDER)}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level, its words, and the lines (from 0) it stands on; `mark` is its underline, if any."""

    level: int
    title: str
    first: int
    last: int
    mark: str = ""
    closed: bool = False

    @property
    def topic(self) -> str:
        """What the section is about, "" for none of those known."""
        return next((topic for topic, pattern in ORDER if pattern.search(self.title)), "")


def headings(lines: list[str], *, rst: bool) -> list[Heading]:
    """The headings outside code, in their order."""
    return _rst(lines) if rst else _markdown(lines)


def _markdown(lines: list[str]) -> list[Heading]:
    found: list[Heading] = []
    fence = ""
    for number, raw in enumerate(lines):
        line = raw.rstrip("\r")
        opened = FENCE.match(line)
        if opened:
            mark = opened[1]
            fence = mark if not fence else "" if mark[0] == fence[0] and len(mark) >= len(fence) else fence
        if fence or opened:
            continue
        match = ATX.match(line)
        if match:
            found.append(Heading(len(match[1]), match[2], number, number, closed=bool(match[3])))
        elif number and re.fullmatch(r"(=+|-{2,})\s*", line) and _can_head(lines[number - 1]):
            title = lines[number - 1].strip()
            found.append(Heading(1 if line[0] == "=" else 2, title, number - 1, number, line[0]))
    return found


def _can_head(line: str) -> bool:
    return bool(line.strip()) and not line.startswith((" ", "|", "-", "*", ">", "#", "\t"))


def _rst(lines: list[str]) -> list[Heading]:
    found: list[Heading] = []
    order: list[str] = []
    for number in range(1, len(lines)):
        match, title = UNDERLINE.match(lines[number].rstrip("\r")), lines[number - 1].rstrip()
        if not match or not title or title.startswith((" ", "\t")) or UNDERLINE.match(title):
            continue
        if len(lines[number].rstrip()) < len(title):
            continue
        over = number >= 2 and lines[number - 2].rstrip() == lines[number].rstrip()
        mark = match[1] + ("^" if over else "")
        if mark not in order:
            order.append(mark)
        found.append(
            Heading(order.index(mark) + 1, title, number - 2 if over else number - 1, number, match[1])
        )
    return found


def section_end(found: list[Heading], heading: Heading, total: int) -> int:
    """The line (from 0) where the section under a heading ends."""
    following = [h for h in found if h.first > heading.last and h.level <= heading.level]
    return following[0].first if following else total


def written(title: str, found: list[Heading], *, rst: bool) -> list[str]:
    """A heading of the level and in the form that the sections of this file have."""
    level = level_of(found)
    same = [h for h in found if h.level == level]
    if rst:
        mark = same[0].mark if same else "-" if found and found[0].mark == "=" else "="
        return [title, mark * len(title)]
    if same and sum(bool(h.mark) for h in same) * 2 > len(same):
        return [title, same[0].mark * len(title)]
    sign = "#" * level
    closed = bool(same) and all(h.closed for h in same)
    return [f"{sign} {title} {sign}" if closed else f"{sign} {title}"]


def level_of(found: list[Heading]) -> int:
    """The level of this file's sections: the highest one that stands more than once, or below the title."""
    counts = Counter(h.level for h in found)
    several = sorted(level for level, count in counts.items() if count > 1)
    known = [h.level for h in found if h.topic]
    if known and counts[min(known)] >= 1 and min(known) > 1:
        return min(known)
    if several and several[0] > 1:
        return several[0]
    if several and not any(h.level == 1 for h in found[1:]):
        return several[0]
    return several[0] if several else 2


def place_for(topic: str, found: list[Heading], total: int) -> int:
    """The line (from 0) before which the section belongs."""
    level = level_of(found)
    sections = [h for h in found if h.level == level]
    later = [h for h in sections if h.topic and RANK[h.topic] > RANK[topic]]
    earlier = [h for h in sections if h.topic and RANK[h.topic] < RANK[topic]]
    if later and (not earlier or later[-1].first > earlier[-1].first):
        after = [h for h in later if not earlier or h.first > earlier[-1].first]
        return after[0].first
    if earlier:
        return section_end(found, earlier[-1], total)
    return sections[0].first if sections and topic in EARLY else total
