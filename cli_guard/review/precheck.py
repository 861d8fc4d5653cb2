"""Check, before anything heavy is loaded, whether there is anything to review."""

from cli_guard.errors import UsageError
from cli_guard.git.prefetch import BEFORE_COMMIT, SETTINGS
from cli_guard.model import CommitMessage
from cli_guard.repository.protocol import Repository
from cli_guard.review.request import Message, Push, Range, Request, Staged, Worktree

EMPTY_MESSAGE = "the message is empty: Git will not commit"


def required_calls(request: Request) -> tuple[tuple[str, ...], ...]:
    """Return the Git calls that a request needs in any case."""
    if isinstance(request, Message):
        return SETTINGS, *BEFORE_COMMIT
    return BEFORE_COMMIT if isinstance(request, Staged) else ()


def nothing_to_review(request: Request, repository: Repository) -> str | None:
    """Return why there is nothing to review, or None, without reading a policy or a diff.

    Raises UsageError if such a change cannot exist.
    """
    if isinstance(request, Staged | Worktree) and repository.bare:
        raise UsageError("a bare repository has no index: use --commit REV or --range A..B")
    if isinstance(request, Staged):
        # A merge that keeps nothing of the other side stages nothing.
        if repository.has_staged() or repository.heads_being_merged:
            return None
        return "nothing is staged"
    if isinstance(request, Range):
        head, base = map(repository.resolve, (request.head, request.base))
        return "the range has no commits" if repository.is_ancestor(head, base) else None
    if isinstance(request, Push) and not request.plan.updates:
        return "everything is up to date"
    if isinstance(request, Message):
        message = message_of(request, repository)
        if not (message.text.strip() or message.cut):
            # Git may record an empty message, with whatever was staged meanwhile.
            return (
                None if request.with_change and repository.has_staged() else EMPTY_MESSAGE
            )
    return None


def message_of(request: Message, repository: Repository) -> CommitMessage:
    """Parse the message as Git will record it, with the configured clean-up."""
    from cli_guard.repository.message import cleanup_mode, parse_message

    configured = repository.config("commit.cleanup")
    char = (
        repository.config("core.commentString")
        or repository.config("core.commentChar")
        or "#"
    )
    edited = repository.git.env.get("GIT_EDITOR") != ":"
    return parse_message(
        request.raw, comment_char=char, cleanup=cleanup_mode(configured, edited=edited)
    )
