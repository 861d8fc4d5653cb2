"""A review that a request asks for in words: of what is staged, of the work tree, of a commit or of several."""

from collections.abc import Iterator

from cli_guard.assistant import Proposal
from cli_guard.assistant.request_git import read_review_request
from cli_guard.repository.protocol import LoggedCommit, Repository
from cli_guard.review.request import Commit, Range, Request, Staged, Worktree
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

TRUNKS = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
MOST_COMMITS = 5


def find_subject(request: str, repository: Repository) -> Request:
    """Return what a request wants reviewed; without a word about it what is staged, else the work tree.

    Raises UsageError for a revision that is not there.
    """
    said = read_review_request(request)
    if said == "branch":
        base = find_branch_base(repository)
        said = Range(base, "HEAD") if base else None
    if isinstance(said, Request):
        return said
    return Staged() if repository.bare or repository.has_staged() else Worktree()


def find_branch_base(repository: Repository) -> str | None:
    """Return where this branch left the main one, None where that cannot be told."""
    for trunk in TRUNKS:
        base = repository.git.optional("merge-base", trunk, "HEAD")
        if base and base != repository.head:
            return base
    return None


def review_change(
    request: str,
    repository: Repository,
    invocation: Invocation,
    revision: str | None,
    *,
    worktree: bool,
) -> Proposal:
    """Review what a request asks for, as `cli-guard review` does; the options of the caller come first.

    Raises CliGuardError.
    """
    from cli_guard.review.render import as_json, text
    from cli_guard.review.run import review_request

    if worktree:
        subject: Request = Worktree()
    elif revision:
        subject = Commit(revision)
    else:
        subject = find_subject(request, repository)
    done = review_request(subject, invocation)
    shown = "\n".join(
        (*describe_subject(subject, repository), text.render(done, color=False))
    )
    data = {"task_type": "change_review", "final_output": shown, **as_json.as_dict(done)}
    return Proposal(done.status, shown, data)


def describe_subject(subject: Request, repository: Repository) -> Iterator[str]:
    """Yield what was reviewed, a line for each commit with its files; the caller knows what is staged."""
    if isinstance(subject, Worktree):
        yield "Reviewed: what differs from HEAD in the work tree."
    if not isinstance(subject, Commit | Range):
        return
    if isinstance(subject, Commit):
        commits = repository.log(tips=[repository.resolve(subject.revision)], count=1)
    else:
        tips = [repository.resolve(subject.head), f"^{repository.resolve(subject.base)}"]
        commits = repository.log(tips=tips, count=MOST_COMMITS + 1)
    yield from map(describe_commit, commits[:MOST_COMMITS])
    if len(commits) > MOST_COMMITS:
        yield "  and the commits before these"


def describe_commit(commit: LoggedCommit) -> str:
    """Return what is said of a commit in the history, and its files."""
    from cli_guard.assistant.history import commit_line, wrap_items

    files = (
        wrap_items("  files: ", [each.path for each in commit.files])
        if commit.files
        else ()
    )
    lines = (f"Reviewed: {commit_line(commit)}", *files)
    return printable(redact("\n".join(lines)), keep_newlines=True)
