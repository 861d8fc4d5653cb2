"""What the examples of `message.toml`, `push.toml` and `policy.toml` are reviews of."""

import re
from dataclasses import replace

from cli_guard.model import ChangeSet, FileChange, Hunk, RefUpdate, Status
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.repository.message import parse_message
from cli_guard.repository.pushes import PushedRef
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import Rule

FILE = re.compile(r"([AMDR]) (\S+)$")
OID = "1" * 40


class TextOfHunks:
    """Contents in which a file is nothing but its changed lines."""

    def new(self, change: FileChange) -> str:
        return "\n".join(change.added.values())

    def old(self, change: FileChange) -> str:
        return "\n".join(change.removed.values())


def change_set(description: str) -> ChangeSet:
    """The change that an example of `rules/message.toml` describes."""
    files: list[FileChange] = []
    for line in description.splitlines():
        header = FILE.match(line)
        if header:
            files.append(
                FileChange(
                    path=header[2], status=Status(header[1]), hunks=(Hunk(1, 1, (), ()),)
                )
            )
        else:
            hunk = files[-1].hunks[0]
            is_removed = line.startswith("-")
            removed = (*hunk.removed, line[1:]) if is_removed else hunk.removed
            added = hunk.added if is_removed else (*hunk.added, line[1:])
            files[-1] = replace(files[-1], hunks=(Hunk(1, 1, removed, added),))
    return ChangeSet(files=tuple(files))


def message_input(rule: Rule, example: str) -> ReviewInput:
    """The example where its rule is in force: being written, already recorded, or on its way to a remote."""
    text, _, description = example.partition("\n<<change>>\n")
    changes = change_set(description)
    usual = "conventional" if rule.extra.get("is_style") else "plain"
    style = rule.extra.get("style", usual)
    if rule.extra.get("pushed_only") or rule.extra.get("recorded_only"):
        commit = replace(changes, commit=OID, message=text)
        return ReviewInput("pre-push", ChangeSet(()), history=(commit,), style=style)
    if description:
        commit = replace(changes, commit=OID, message=text)
        return ReviewInput("review", commit, contents=TextOfHunks(), style=style)
    message = parse_message(text.encode())
    return ReviewInput(
        "commit-msg", changes, contents=TextOfHunks(), message=message, style=style
    )


OLD = "a" * 40
NEW = "b" * 40
ZERO = "0" * 40
BRANCHES = ("main", "master", "release/*")


def pushed(text: str) -> PushedRef:
    """The update that an example of `rules/push.toml` describes: forced, plain or delete, and the ref."""
    how, ref = text.split(" ", 1)
    local = ("(delete)", ZERO) if how == "delete" else ("refs/heads/x", NEW)
    return PushedRef(RefUpdate(*local, ref, OLD), forced=how == "forced")


def push_input(*texts: str, protected: tuple[str, ...] = BRANCHES) -> ReviewInput:
    """The push of these updates."""
    refs = tuple(pushed(text) for text in texts)
    return ReviewInput("pre-push", ChangeSet(()), pushed=refs, protected_branches=protected)


def policy_change(old: dict[str, str], new: dict[str, str]) -> ReviewInput:
    """The staged change between two trees in memory."""
    return ReviewInput("staged", changes_between(old, new), SnapshotContents(old, new))


def policy_input(text: str) -> ReviewInput:
    """The change that an example of `rules/policy.toml` describes: path, before, after."""
    path, _, rest = text.partition("\n")
    before, _, after = rest.partition("---\n")
    old = {path: before} if before.strip() else {}
    new = {path: after} if after.strip() else {}
    return policy_change(old, new)
