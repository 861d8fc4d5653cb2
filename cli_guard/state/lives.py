"""The life of each finding of a repository: found when and where, and what became of it.

Told from the audit log, the approvals and the commits; nothing else is stored. A finding is the same wherever its
fingerprint is, so what is reviewed again is found once.
"""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cli_guard.errors import MissingObject
from cli_guard.git.contents import BlobReader
from cli_guard.git.log import git_at_top
from cli_guard.git.repository import Repository
from cli_guard.git.unified import lines_of, opcodes
from cli_guard.state.audit import Entry

OPEN, FIXED, ANSWERED, IGNORED, APPROVED = ENDS = ("open", "fixed", "answered", "ignored", "approved")
ENDED_BY = {"inline": ANSWERED, "config": IGNORED, "baseline": IGNORED, "approval": APPROVED}
UNRECORDED = "before the commit"
HOW = {"inline": "inline", "config": "[[ignore]]", "baseline": "baseline", "approval": "approval"}
# A recorded finding is fixed if its line changes within so many commits.
COMMITS = 5
MOST_FOLLOWED = 5_000
BLOB_BYTES = 1_000_000
# An amended commit is older than the review of what replaces it.
MARGIN = datetime.timedelta(days=30)
IN_INDEX = ("pre-commit", "pre-merge-commit", "staged", "worktree")


@dataclass(frozen=True, slots=True)
class Life:
    """One finding: as it was found first, and how it ended.

    `at` and `ended_at` are ISO 8601 times in UTC, `until` a date or time, "" for none. `commit` recorded it, "" if
    unknown; `decision` is deny, review or advise; `who` ran the review. `ended` is one of ENDS; `ended_how` is
    `inline`, `[[ignore]]`, `baseline`, `before the commit`, `in COMMIT`, or the id of the approval; `level` is the
    presence level of an approval.
    """

    rule: str
    fingerprint: str
    path: str
    severity: str
    at: str
    who: str
    decision: str
    line: int | None = None
    commit: str = ""
    ended: str = OPEN
    ended_at: str = ""
    ended_by: str = ""
    ended_how: str = ""
    level: str = ""
    until: str = ""


def read_lives(
    repository: Repository, entries: Iterable[Entry], approvals: Iterable[Entry] = ()
) -> list[Life]:
    """Return the life of each finding in the entries of an audit log, oldest first.

    `approvals` are more of them than the log has (`find_approvals`); one that is refused does not count. Entries of
    versions that did not list their findings have none. Raises GitError.
    """
    told = Telling()
    for entry in entries:
        told.add(entry)
    for approval in approvals:
        if "refused" not in approval:
            told.approve(approval)
    history = Recorded.read(repository, min((each.at for each in told.lives.values()), default=""))
    for mark, life in told.lives.items():
        if not life.commit:
            commit = history.find_recorded(told.places[mark], told.times[mark])
            told.lives[mark] = replace(life, commit=commit)
    for approval in told.broken_glass:
        for mark, life in told.lives.items():
            if life.commit == approval.get("commit") and life.ended == OPEN:
                told.approve({**approval, "fingerprints": [mark]})
    follow(repository, history, told)
    return list(told.lives.values())


@dataclass
class Telling:
    """The lives as far as the log was read: by fingerprint, where each was seen last, when, and at the tip of what."""

    lives: dict[str, Life] = field(default_factory=dict)
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)
    here: dict[tuple[str, ...], set[str]] = field(default_factory=lambda: defaultdict(set))
    broken_glass: list[Entry] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """Add what one entry says."""
        if entry.get("event") == "approve":
            self.approve(entry)
        elif entry.get("event") == "break-glass":
            self.broken_glass.append(entry)
        elif isinstance(entry.get("found"), list):
            self.add_review(entry)

    def add_review(self, entry: Entry) -> None:
        """Add the findings of a review; those that it finds no more, where they were found last, are fixed."""
        place, at, who = place_of(entry), text(entry, "at"), text(entry, "user")
        listed = list(listed_findings(entry, at, who))
        marks = entry.get("fingerprints")
        seen = {life.fingerprint for life in listed} | set(marks if isinstance(marks, list) else ())
        missing = self.here[place] - seen if place and not entry.get("part") else set()
        # A finding whose line was edited has another fingerprint, and is not fixed.
        edited = {(self.lives[mark].rule, self.lives[mark].path): mark for mark in sorted(missing)}
        for life in listed:
            mark, key = life.fingerprint, (life.rule, life.path)
            known = self.lives.get(mark)
            if known is None and life.ended == OPEN and key in edited:
                former = edited.pop(key)
                missing.discard(former)
                self.here[place].discard(former)
                known = self.lives.pop(former)
            if known is None:
                self.lives[mark] = life
            elif not (life.ended == APPROVED == known.ended):
                names = ("line", "ended", "ended_at", "ended_by", "ended_how", "level", "until")
                now = {name: getattr(life, name) for name in names}
                self.lives[mark] = replace(known, fingerprint=mark, commit=life.commit or known.commit, **now)
            if life.ended == OPEN and place:
                self.here[self.places.get(mark, place)].discard(mark)
                self.here[place].add(mark)
            else:
                self.here[self.places.get(mark, place)].discard(mark)
            self.places[mark], self.times[mark], self.heads[mark] = place, at, text(entry, "head")
        for mark in missing:
            self.here[place].discard(mark)
            ended: dict[str, Any] = {"ended": FIXED, "ended_at": at, "ended_by": who, "ended_how": UNRECORDED}
            self.lives[mark] = replace(self.lives[mark], **ended)

    def approve(self, entry: Entry) -> None:
        """Add an approval of some findings; it ends no life that another answer has ended."""
        marks = entry.get("fingerprints")
        for mark in marks if isinstance(marks, list) else ():
            life = self.lives.get(mark) if isinstance(mark, str) else None
            if life and (life.ended == OPEN or (life.ended == APPROVED and not life.ended_by)):
                self.here[self.places.get(mark, ())].discard(mark)
                self.lives[mark] = replace(
                    life,
                    ended=APPROVED,
                    ended_at=text(entry, "at"),
                    ended_by=text(entry, "principal") or text(entry, "user"),
                    ended_how=text(entry, "review_id")
                    or text(entry, "statement")[:10]
                    or text(entry, "event"),
                    level=text(entry, "level") or "tty",
                    until=text(entry, "expires"),
                )


def text(data: Mapping[str, Any], name: str) -> str:
    """Return a text of an entry, "" for anything else: any program of the user can write a line."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def place_of(entry: Entry) -> tuple[str, ...]:
    """Return where a review was made: what is read there again and found no more is fixed. () for recorded commits."""
    event, refs, base = (text(entry, name) for name in ("event", "refs", "base"))
    if event in ("commit", "patch") or (text(entry, "head") and not refs):
        return ()
    return "index" if event in IN_INDEX else event, refs, base


def listed_findings(entry: Entry, at: str, who: str) -> Iterator[Life]:
    """Yield the findings that an entry lists, as `cli_guard.review.store` writes them."""
    groups = entry["found"]
    for group in groups if isinstance(groups, list) else ():
        lines = group.get("lines") if isinstance(group, dict) else None
        if not isinstance(lines, dict):
            continue
        by = text(group, "by")
        life = Life(
            rule=text(group, "rule"),
            fingerprint="",
            path=text(group, "path"),
            severity=text(group, "severity"),
            at=at,
            who=who,
            decision=text(group, "decision"),
            commit=text(group, "commit"),
            ended=ENDED_BY.get(by, OPEN),
            ended_at=at if by else "",
            # Who approved is in the entry of the approval; of what is recorded, anybody may have answered it.
            ended_by=who if by == "inline" and text(entry, "event") in IN_INDEX else "",
            ended_how=HOW.get(by, ""),
            until=text(group, "until"),
        )
        for mark, line in lines.items():
            yield replace(life, fingerprint=mark, line=line if isinstance(line, int) else None)


@dataclass(frozen=True)
class Recorded:
    """The commits since a time, of every ref and reflog: id -> (committer's time, author's time and mail, parents)."""

    commits: Mapping[str, tuple[int, str, tuple[str, ...]]]
    children: Mapping[str, list[str]]
    copies: Mapping[str, list[str]]
    line: frozenset[str]

    @classmethod
    def read(cls, repository: Repository, since: str) -> "Recorded":
        """Read them. `since` is an ISO 8601 time, "" for no commits. Raises GitError."""
        commits: dict[str, tuple[int, str, tuple[str, ...]]] = {}
        children, copies = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        try:
            start = int((datetime.datetime.fromisoformat(since) - MARGIN).timestamp())
        except ValueError:
            return cls({}, {}, {}, frozenset())
        asked = ("--all", "--reflog", "--no-show-signature", "--no-color", f"--since={start}")
        out = repository.git.optional("log", *asked, "--format=%H%x00%ct%x00%at %ae%x00%P") or ""
        for row in out.splitlines():
            oid, time, author, parents = row.split("\0")
            commits[oid] = (int(time), author, tuple(parents.split()))
            children[parents.partition(" ")[0]].append(oid)
            copies[author].append(oid)
        line, at = set[str](), repository.head
        while at in commits and at not in line:
            line.add(at)
            at = next(iter(commits[at][2]), "")
        return cls(commits, children, copies, frozenset(line))

    def find_recorded(self, place: tuple[str, ...], at: str) -> str:
        """Return the commit that followed a review in a place, "" if there is none."""
        if not place or place[0] not in ("index", "commit-msg"):
            return ""
        base, time = place[2], int(datetime.datetime.fromisoformat(at).timestamp()) if at else 0
        later = [each for each in self.children.get(base, ()) if self.commits[each][0] >= time]
        if not later and base in self.commits:
            # An amend keeps the author's time and the parents.
            _, author, parents = self.commits[base]
            later = [
                each
                for each in self.copies[author]
                if self.commits[each][0] >= time and self.commits[each][2] == parents
            ]
        return min(later, key=lambda each: self.commits[each][0], default="")

    def fix(self, commit: str) -> dict[str, Any]:
        """Return how a life ended that a commit has fixed."""
        time, author, _ = self.commits[commit]
        at = datetime.datetime.fromtimestamp(time, datetime.UTC).isoformat()
        how = f"in {commit}"
        return {"ended": FIXED, "ended_at": at, "ended_by": author.partition(" ")[2], "ended_how": how}

    def after(self, commit: str) -> list[str]:
        """Return a commit, what an amend or a rebase has made of it, and the COMMITS that follow on its branch."""
        found = [commit]
        if commit in self.commits and commit not in self.line:
            copies = self.copies[self.commits[commit][1]]
            found += [each for each in copies if each in self.line and each != commit][:1]
        most = len(found) + COMMITS
        while len(found) < most and (children := self.children.get(found[-1])):
            found.append(max(children, key=lambda each: (each in self.line, self.commits[each][0])))
        return found


def follow(repository: Repository, history: Recorded, told: Telling) -> None:
    """End the open lives, the newest MOST_FOLLOWED, whose recorded lines have changed within COMMITS commits."""
    due = defaultdict[tuple[str, str], list[Life]](list)
    newest = [each for each in reversed(told.lives.values()) if each.ended == OPEN and each.line]
    for life in newest[:MOST_FOLLOWED]:
        if commit := life.commit or told.heads[life.fingerprint]:
            due[commit, life.path].append(life)
    chains = {commit: history.after(commit) for commit, _ in due}
    blobs = repository.identify(f"{each}:{path}" for commit, path in due for each in chains[commit])
    again = {(each.rule, each.path, each.commit) for each in told.lives.values()}
    with BlobReader(git_at_top(repository), blob_limit=BLOB_BYTES) as reader:
        for (commit, path), left in due.items():
            first, *later = ((each, blobs.get(f"{each}:{path}", ("", ""))[0]) for each in chains[commit])
            before = first[1]
            for oid, blob in later if first[1] else ():
                if blob == before or not left:
                    continue
                before, kept = blob, unchanged_lines(reader, first[1], blob)
                for life in left:
                    # What is found again there in another form was edited, not fixed.
                    if life.line not in kept and (life.rule, path, oid) not in again:
                        told.lives[life.fingerprint] = replace(life, **history.fix(oid))
                left = [each for each in left if each.line in kept]


def unchanged_lines(reader: BlobReader, old: str, new: str) -> Mapping[int, None] | range:
    """Return the numbers of the lines of a blob that another one still has; all if that cannot be told."""
    if not new:
        return range(0)
    try:
        before, after = reader.read(old), reader.read(new)
    except MissingObject:
        before = after = None
    if before is None or after is None:
        return range(1_000_000_000)
    codes = opcodes(*(lines_of(raw.decode("utf-8", "surrogateescape")) for raw in (before, after)))
    kept = (range(first + 1, end + 1) for tag, first, end, _, _ in codes if tag == "equal")
    return dict.fromkeys(number for each in kept for number in each)
