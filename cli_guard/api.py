"""The stable import path for Python callers.

    review(target, ...)      review a git.Repo, a unidiff.PatchSet or a ChangeSet
    judge(command, ...)      judge a shell command
    build_graph(...)         the LangGraph graph `cli_agent_assistant`
    ProcessManager, CLIToolsMixin, is_port_available, find_available_port, find_process_on_port,
    kill_process_on_port     real commands, their process trees and ports

Importing it loads nothing heavy and has no side effect: each name is imported at its first use.
"""

import datetime
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import git
    from unidiff.patch import PatchSet

    from cli_guard.commands import Context, Verdict, judge
    from cli_guard.execution.ports import (
        find_available_port,
        find_process_on_port,
        is_port_available,
        kill_process_on_port,
    )
    from cli_guard.execution.processes.manager import ProcessManager
    from cli_guard.execution.processes.tools_mixin import CLIToolsMixin
    from cli_guard.graph import build_graph
    from cli_guard.model import ChangeSet
    from cli_guard.policy.decisions import Policy
    from cli_guard.review.render.review import Review
    from cli_guard.review.request import Request

HOMES = {
    "CLIToolsMixin": "cli_guard.execution.processes.tools_mixin",
    "Context": "cli_guard.commands",
    "ProcessManager": "cli_guard.execution.processes.manager",
    "Review": "cli_guard.review.render.review",
    "Verdict": "cli_guard.commands",
    "build_graph": "cli_guard.graph",
    "find_available_port": "cli_guard.execution.ports",
    "find_process_on_port": "cli_guard.execution.ports",
    "is_port_available": "cli_guard.execution.ports",
    "judge": "cli_guard.commands",
    "kill_process_on_port": "cli_guard.execution.ports",
}

__all__ = [
    "CLIToolsMixin",
    "Context",
    "ProcessManager",
    "Review",
    "Verdict",
    "build_graph",
    "find_available_port",
    "find_process_on_port",
    "is_port_available",
    "judge",
    "kill_process_on_port",
    "review",
]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def review(
    target: "git.Repo | PatchSet | ChangeSet",
    *,
    staged: bool = False,
    worktree: bool = False,
    commit: str | None = None,
    range: str | None = None,
    policy: "Policy | None" = None,
) -> "Review":
    """Review a change and return what `cli-guard review` would print. Nothing is recorded, so nothing can be approved.

    `target` is a `git.Repo` with one of `staged`, `worktree`, `commit` (a revision) or `range` ("A..B"; without any,
    what is staged), judged by the policy that the repository has recorded; or a `unidiff.PatchSet` or ChangeSet, judged
    by `policy` (default: the built-in one).

    Raises UsageError for options that exclude each other, an unknown revision or an invalid patch, and
    ConfigError, GitError; all of them are `cli_guard.errors.CliGuardError`.
    """
    from cli_guard.errors import UsageError
    from cli_guard.model import ChangeSet

    named = [name for name, value in locals().items() if name in SELECTORS and value]
    if len(named) > 1:
        raise UsageError(f"{named[0]} and {named[1]} exclude each other: give one of them")
    if not isinstance(target, ChangeSet | list):
        if not hasattr(target, "git_dir"):
            name = type(target).__name__
            raise UsageError(
                f"a {name} cannot be reviewed: pass a git.Repo or a unidiff.PatchSet"
            )
        if policy is not None:
            raise UsageError(
                "a repository is judged by its own policy: omit policy, or pass a patch"
            )
        return review_repository(target, request_for(worktree, commit, range))
    if named:
        raise UsageError(f"{named[0]} needs a git.Repo: a patch is reviewed as it is")
    from cli_guard.repository.patch import PatchContents, read_patch
    from cli_guard.review.run import review as review_changes

    if isinstance(target, ChangeSet):
        return review_changes(target, policy)
    changes = read_patch(str(target).encode("utf-8", "surrogateescape"), "the PatchSet")
    return review_changes(changes, policy, contents=PatchContents())


SELECTORS = ("staged", "worktree", "commit", "range")


def request_for(worktree: bool, commit: str | None, range: str | None) -> "Request":
    """Build the request of the options of `review`."""
    from cli_guard.review.request import Commit, Staged, Worktree, parse_range

    if commit:
        return Commit(commit)
    if range:
        return parse_range(range)
    return Worktree() if worktree else Staged()


def review_repository(repository: "git.Repo", request: "Request") -> "Review":
    """Review a request in the repository of a `git.Repo`, with the environment of this process.

    Git is started by GitPython, but with cli-guard's own options: no program runs that the repository's own
    configuration names, and what the caller has set for `repository.git` does not count.
    """
    from cli_guard.review.run import ReviewOptions, never, review_request
    from cli_guard.runtime import Invocation

    folder = Path(repository.working_tree_dir or repository.git_dir)
    invocation = Invocation(folder, dict(os.environ), datetime.datetime.now(datetime.UTC))
    options = ReviewOptions(records=never, through_gitpython=True)
    return review_request(request, invocation, options)
