"""The life of each finding of a repository: found when and where, and what became of it.

Told from the audit log, the approvals and the commits; nothing else is stored. A finding is the same wherever its
fingerprint is, so what is reviewed again is found once.
"""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field

from cli_guard.lazy import dataclass
from cli_guard.repository.protocol import Blobs, Repository
from cli_guard.repository.unified import unchanged_lines
from cli_guard.state.audit import Entry, text, texts

OPEN = "open"
FIXED = "fixed"
ANSWERED = "answered"
IGNORED = "ignored"
APPROVED = "approved"
ENDS = (OPEN, FIXED, ANSWERED, IGNORED, APPROVED)
BY = {
    "inline": (ANSWERED, "inline"),
    "config": (IGNORED, "[[ignore]]"),
    "baseline": (IGNORED, "baseline"),
}
# A recorded finding is fixed if its line changes within so many commits.
COMMITS = 5
MOST_FOLLOWED = 5_000
BLOB_BYTES = 1_000_000
# An amended commit is older than the review of what replaces it; a date of Git may be beyond those of Python.
MARGIN = 30 * 86_400
LATEST = 253_402_300_799


@dataclass(slots=True)
class Life:
    """One finding: as it was found first, and how it ended, as far as the log was read.

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

    def end(self, ended: str, at: str, by: str, how: str) -> None:
        self.ended = ended
        self.ended_at = at
        self.ended_by = by
        self.ended_how = how


def read_lives(
    repository: Repository, entries: Iterable[Entry], approvals: Iterable[Entry] = ()
) -> list[Life]:
    """Return the life of each finding in the entries of an audit log, oldest first.

    `approvals` are those that `list_approvals` returns, which the notes may have and the log has not; one that is
    refused does not count. Entries of versions that did not list their findings have no lives. Raises GitError.
    """
    told = Telling()
    logged = {""}
    for entry in entries:
        told.add(entry)
        logged.add(text(entry, "statement"))
    for each in approvals:
        if "refused" not in each and text(each, "statement") not in logged:
            told.add(each)
    history = RecordedCommits(
        repository, min((each.at for each in told.lives.values()), default="")
    )
    for mark, life in told.lives.items():
        if not life.commit:
            place, at, _ = told.seen[mark]
            life.commit = history.find_recorded(place, at)
    follow(repository, history, told)
    return sorted(told.lives.values(), key=lambda each: each.at)


@dataclass
class Telling:
    """The lives as far as the log was read, by fingerprint.

    `seen` is where and when each was seen last, and the tip of the commits that were reviewed; `here` has the
    fingerprints by place, also of those that were seen elsewhere since.
    """

    lives: dict[str, Life] = field(default_factory=dict)
    seen: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    here: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, entry: Entry) -> None:
        """Add what one entry says."""
        if entry.get("event") == "approve":
            self.approve(entry)
        elif isinstance(entry.get("found"), list):
            self.add_review(entry)

    def add_review(self, entry: Entry) -> None:
        """Add the findings of a review; those that it finds no more, where they were found last, are fixed."""
        place = text(entry, "place")
        # Most reviews find nothing, and nothing was found there before them.
        if not entry["found"] and not self.here.get(place):
            return
        at = text(entry, "at")
        who = person(entry)
        # What stands in one commit of a range is open, whatever answers it in another.
        listed = sorted(
            listed_findings(entry, at, who), key=lambda each: each.ended == OPEN
        )
        marks = {each.fingerprint for each in listed} | set(texts(entry, "fingerprints"))
        missing = {
            mark
            for mark in (self.here[place] - marks if place else ())
            if mark in self.lives
            and self.lives[mark].ended == OPEN
            and self.seen[mark][0] == place
        }
        # A finding whose line was edited has another fingerprint, and is not fixed.
        edited = {
            (self.lives[mark].rule, self.lives[mark].path): mark for mark in sorted(missing)
        }
        for life in listed:
            mark = life.fingerprint
            if mark not in self.lives and life.ended == OPEN:
                mark = edited.pop((life.rule, life.path), mark)
            known = self.lives.pop(mark, None)
            missing.discard(mark)
            if known and known.ended == life.ended == APPROVED:
                life = known
            elif known:
                life.at = known.at
                life.who = known.who
                life.decision = known.decision
                life.severity = known.severity
                life.commit = known.commit or life.commit
            self.lives[life.fingerprint] = life
            self.seen[life.fingerprint] = (place, at, text(entry, "head"))
            self.here[place].add(life.fingerprint)
        for mark in missing:
            self.lives[mark].end(FIXED, at, who, "before the commit")
        self.here[place] -= missing

    def approve(self, entry: Entry) -> None:
        """Add an approval of some findings; it ends no life that another answer has ended."""
        by = person(entry)
        how = text(entry, "review_id") or text(entry, "statement")[:10]
        at = text(entry, "at")
        level = text(entry, "level") or "tty"
        until = text(entry, "expires")
        for mark in texts(entry, "fingerprints"):
            life = self.lives.get(mark)
            if life and (
                life.ended == OPEN or (life.ended == APPROVED and not life.ended_by)
            ):
                life.end(APPROVED, at, by, how)
                life.level = level
                life.until = until


def person(entry: Entry) -> str:
    """Return who did it: the signer, or Git's author, or the user of the system where neither is known."""
    return text(entry, "principal") or text(entry, "author") or text(entry, "user")


def listed_findings(entry: Entry, at: str, who: str) -> Iterator[Life]:
    """Yield the findings that an entry lists, as `cli_guard.review.store` writes them."""
    groups = entry["found"]
    for group in groups if isinstance(groups, list) else ():
        lines = group.get("lines") if isinstance(group, dict) else None
        if not isinstance(lines, dict):
            continue
        named = {
            name: text(group, name)
            for name in ("rule", "path", "severity", "decision", "commit", "until")
        }
        ended, how = BY.get(by := text(group, "by"), (APPROVED if by else OPEN, by))
        named |= {"ended": ended, "ended_at": how and at, "ended_how": how}
        # Who approved is in the entry of the approval; what is recorded, anybody may have answered.
        named["ended_by"] = who if how == "inline" and text(entry, "place") else ""
        for mark, line in lines.items():
            yield Life(
                fingerprint=mark,
                at=at,
                who=who,
                line=line if isinstance(line, int) else None,
                **named,
            )


def seconds(at: str) -> int:
    """Return an ISO 8601 time as Git has it, 0 for anything else."""
    try:
        return max(int(datetime.datetime.fromisoformat(at).timestamp()), 0)
    except (ValueError, OverflowError):
        return 0


class RecordedCommits:
    """The commits of every ref and reflog since an ISO 8601 time, and those on the branch at HEAD."""

    def __init__(self, repository: Repository, since: str) -> None:
        """Read them. Raises GitError."""
        # The committer's time, the author's time and mail, the parents.
        self.commits: dict[str, tuple[int, str, str]] = {}
        self._children = defaultdict[str, list[str]](list)
        self._copies = defaultdict[str, list[str]](list)
        asked = (
            "--all",
            "--reflog",
            "--no-show-signature",
            f"--max-age={max(seconds(since) - MARGIN, 0)}",
        )
        out = (
            repository.git.optional(
                "log", *asked, "--format=%H%x00%ct%x00%at %an <%ae>%x00%P"
            )
            if since
            else ""
        )
        for row in (out or "").split("\n"):
            oid, *fields = row.split("\0")
            if len(fields) == 3:
                time, author, parents = fields
                self.commits[oid] = (min(int(time), LATEST), author, parents)
                self._children[parents.partition(" ")[0]].append(oid)
                self._copies[author].append(oid)
        self.line = set[str]()
        at = repository.head
        while at in self.commits:
            self.line.add(at)
            at = self.commits[at][2].partition(" ")[0]

    def find_recorded(self, place: str, at: str) -> str:
        """Return the commit that followed a review in a place, "" if there is none."""
        kind, _, base = place.partition(" ")
        if kind.partition("@")[0] not in ("index", "message"):
            return ""
        _, author, parents = self.commits.get(base, (0, "", ""))
        # An amend keeps the author's time and the parents.
        amended = (
            each
            for each in self._copies[author]
            if each != base and self.commits[each][2] == parents
        )
        later = [
            e
            for e in (*self._children[base], *amended)
            if self.commits[e][0] >= seconds(at)
        ]
        return min(later, key=lambda each: self.commits[each][0], default="")

    def after(self, commit: str) -> list[str]:
        """Return a commit, what an amend or a rebase has made of it, and the COMMITS that follow on its branch."""
        found = [commit]
        if commit in self.commits and commit not in self.line:
            found += [
                each for each in self._copies[self.commits[commit][1]] if each in self.line
            ][:1]
        most = len(found) + COMMITS
        while len(found) < most and (children := self._children[found[-1]]):
            found.append(
                max(children, key=lambda each: (each in self.line, self.commits[each][0]))
            )
        return found


def follow(repository: Repository, history: RecordedCommits, told: Telling) -> None:
    """End the open lives, the newest MOST_FOLLOWED, whose recorded lines have changed within COMMITS commits."""
    due = defaultdict[tuple[str, str], list[Life]](list)
    newest = [
        each for each in reversed(told.lives.values()) if each.ended == OPEN and each.line
    ]
    for life in newest[:MOST_FOLLOWED]:
        if commit := life.commit or told.seen[life.fingerprint][2]:
            due[commit, life.path].append(life)
    chains = {commit: history.after(commit) for commit, _ in due}
    named = repository.identify(
        f"{each}:{path}" for commit, path in due for each in chains[commit]
    )
    blobs = {name: oid for name, (oid, kind) in named.items() if kind == "blob"}
    again = {(each.rule, each.path, each.commit) for each in told.lives.values()}
    with repository.blobs(BLOB_BYTES) as reader:
        for (commit, path), left in due.items():
            first, *later = (
                (each, blobs.get(f"{each}:{path}", "")) for each in chains[commit]
            )
            before = first[1]
            for oid, blob in later if before else ():
                changed = (
                    without_line(reader, left, first[1], blob)
                    if left and blob != before
                    else []
                )
                before = blob
                left = [each for each in left if each not in changed]
                time, author, _ = history.commits[oid]
                at = datetime.datetime.fromtimestamp(time, datetime.UTC).isoformat()
                for life in changed:
                    # What is found again there in another form was edited, not fixed.
                    if (life.rule, path, oid) not in again:
                        life.end(FIXED, at, author.partition(" ")[2], f"in {oid}")


def without_line(reader: Blobs, lives: list[Life], old: str, new: str) -> list[Life]:
    """Return the lives whose line in a blob another one, "" for none, has not; none if that cannot be told."""
    if not new:
        return lives
    before = reader.read(old)
    after = reader.read(new)
    if before is None or after is None:
        return []
    same = unchanged_lines(
        *(raw.decode("utf-8", "surrogateescape") for raw in (before, after))
    )
    return [each for each in lives if not any(each.line in lines for lines in same)]
