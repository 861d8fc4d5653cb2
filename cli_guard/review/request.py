"""What to review: one small type for each kind of change."""

from cli_guard.errors import UsageError
from cli_guard.lazy import frozen
from cli_guard.review.push import PushPlan


@frozen
class Staged:
    """What `git commit` would record; `event` is the calling hook, or "staged" for a review by hand.

    `said` is its message, where that is known: it is not reviewed with it.
    """

    event: str = "staged"
    said: "Message | None" = None


@frozen
class Worktree:
    """What differs from HEAD in the work tree; `own_policy`: judged by the policy of the work tree, to try it out."""

    event: str = "worktree"
    own_policy: bool = False


@frozen
class Commit:
    """One recorded commit."""

    revision: str
    event: str = "commit"


@frozen
class Range:
    """The commits that `head` has and `base` has not."""

    base: str
    head: str
    event: str = "range"


@frozen
class Patch:
    """A patch from a file or from standard input; `name` is for people."""

    raw: bytes
    name: str
    event: str = "patch"


@frozen
class Message:
    """The message file of a commit that is about to be recorded.

    `with_change`: the change is reviewed first, unless a hook before this one has allowed exactly that.
    """

    raw: bytes
    with_change: bool = False
    event: str = "commit-msg"


@frozen
class Push:
    """A push that is about to happen to `remote` (a name or a URL)."""

    plan: PushPlan
    remote: str = ""
    event: str = "pre-push"


Request = Staged | Worktree | Commit | Range | Patch | Message | Push


def parse_range(text: str) -> Range:
    """Parse `A..B`; a side left out is HEAD (gitrevisions(7)). Raises UsageError.

    `A...B`, from the merge base to B, has the same commits, and is compared with the same base.
    """
    base, dots, head = text.partition("..")
    head = head.removeprefix(".")
    if not dots or head.startswith(".") or not (base or head):
        raise UsageError(
            f"{text!r} is not a range: write it as A..B, for example origin/main..HEAD"
        )
    return Range(base or "HEAD", head or "HEAD")
