"""`cli-guard hook`: what Git (or a hook framework) calls, and what a coding agent calls.

Most often nothing is staged, so what a review needs is imported only when there is something to review.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli_guard import __version__
from cli_guard.agents.registry import AGENTS, BLOCKED
from cli_guard.cli.agent_hook import answer_agent
from cli_guard.cli.app import Command, Group, flag
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.hooks import (
    GIT_HOOKS,
    MESSAGE,
    PREPARATION,
    PUSH,
    STAGED,
    event_of,
    find_hook,
)

if TYPE_CHECKING:
    from cli_guard.repository.protocol import Commands, Repository
    from cli_guard.review.request import Request
    from cli_guard.review.run import ReviewOutcome
    from cli_guard.runtime import Invocation


def find_skip(io: Io, event: str) -> str | None:
    """Return the variable that switches the hook off this once, None if none does."""
    if io.env.get("CLI_GUARD") == "0":
        return "CLI_GUARD=0"
    # SKIP may name `cli-guard`, the hook, or its id in .pre-commit-hooks.yaml.
    names = ("cli-guard", f"cli-guard-{event}", event_of(event).framework_id)
    skip = [each.strip() for each in io.env.get("SKIP", "").split(",")]
    return next((f"SKIP={each}" for each in names if each and each in skip), None)


def is_skipped(io: Io, event: str) -> bool:
    """Return whether the hook is switched off this once; print and record it."""
    reason = find_skip(io, event)
    if not reason:
        return False
    io.warn(f"cli-guard: {event} skipped ({reason})")
    from cli_guard.state.audit import AuditLog, entry

    try:
        folder = io.find_repository().state_folder
        AuditLog(folder).append(entry(event, io.invocation, skipped=reason))
    except (CliGuardError, OSError) as error:
        io.warn(f"cli-guard: the skip was not recorded: {error}")
    return True


def review_for_git(
    io: Io,
    request: "Request",
    repository: "Repository | None" = None,
    **options: Any,
) -> "ReviewOutcome":
    """Review with the repository's checks and a progress line. `options`: see `ReviewOptions`."""
    from cli_guard.cli.progress import progress
    from cli_guard.review.run import ReviewOptions, review_and_record

    def plan_checks(*wanted: Any, **named: Any) -> Any:
        # Loaded only if the policy has checks: they run commands.
        from cli_guard.execution.checks.running import prepare_checks

        return prepare_checks(*wanted, **named, progress=io.stderr)

    with progress(io.stderr) as on_progress:
        wanted = ReviewOptions(plan_checks, on_progress=on_progress, **options)
        return review_and_record(request, io.invocation, wanted, repository)


def answer(
    io: Io,
    request: "Request",
    repository: "Repository | None" = None,
    *,
    framework: bool = False,
    **said: Any,
) -> int:
    """Review, print, and return the exit code for Git. `repository`: see `review_request`; `said`: `Review`."""
    from dataclasses import replace

    from cli_guard.cli.review import show

    review = review_for_git(io, request, repository).review
    if review.left or (review.nothing and not framework):
        return review.exit_code
    program = name_program(io) if framework else "cli-guard"
    if event_of(review.event).request == PUSH and review.findings and not framework:
        said["told"] = find_told(io)
    show(io, replace(review, program=program, **said), "text", "auto", None, brief=True)
    return review.exit_code


def find_told(io: Io) -> frozenset[str]:
    """Return the fingerprints of what the last reviews of commits here have shown."""
    from cli_guard.state.audit import texts
    from cli_guard.state.records import Records

    kept = Records(io.find_repository().state_folder).audit.recent()
    ours = (each for each in kept if event_of(each.get("event")).is_of_commit)
    return frozenset(mark for each in ours for mark in texts(each, "fingerprints"))


def name_program(io: Io) -> str:
    """Return how a person starts this cli-guard or one of its version, from PATH; its path if neither is there.

    A framework runs us from its own environment, whose folder only it puts on PATH.
    """
    from cli_guard.runtime import find_on_path, own_program

    own = own_program()
    folders = io.env.get("PATH", "").split(os.pathsep)
    usual = os.pathsep.join(each for each in folders if Path(each) != own.parent)
    found = find_on_path(usual)
    if found is None or found.is_relative_to(io.cwd.resolve()):
        return str(own)
    package = f"lib/python*/site-packages/cli_guard-{__version__}.dist-info"
    is_same = found == own.resolve() or any(found.parent.parent.glob(package))
    return "cli-guard" if is_same else str(own)


def review_staged(io: Io, /, event: str, framework: bool = False) -> int:
    """Review what is staged; with a framework also the range that it names."""
    if is_skipped(io, event):
        return 0
    from cli_guard.git.prefetch import BEFORE_COMMIT, hooks_path

    # Asked at the end, if the commit-msg hook is to show the report: only Git itself names an index.
    at_the_end = [hooks_path()] if "GIT_INDEX_FILE" in io.env else []
    repository = io.find_repository(*BEFORE_COMMIT, *at_the_end)
    # A merge that keeps nothing of the other side stages nothing.
    merged = repository.bare or repository.heads_being_merged
    is_staged = bool(merged) or repository.has_staged()
    # Anybody can set these: they add to what is staged (`pre-commit run --from-ref A --to-ref B`), never replace it.
    base = io.env.get("PRE_COMMIT_FROM_REF")
    head = io.env.get("PRE_COMMIT_TO_REF")
    names_range = framework and base and head
    if not is_staged:
        repository.git.forget()
        if not names_range:
            refuse_empty_run(io, repository, framework=framework)
            return 0
    from cli_guard.review.request import Range, Staged

    code = 0
    if is_staged:
        known = None if repository.bare else repository
        code = answer(io, Staged(event), known, framework=framework)
    if not code and base and head and names_range:
        code = answer(io, Range(base, head, event), framework=True)
    return code


def refuse_empty_run(io: Io, repository: "Repository", *, framework: bool) -> None:
    """Raise UsageError if a framework was started by hand or in CI, not by a commit, and nothing is staged."""
    # Git sets the second for the hooks of a commit, which may well be an empty one.
    if not (framework or io.env.get("PRE_COMMIT") == "1") or "GIT_INDEX_FILE" in io.env:
        return
    import shlex

    default = repository.git.optional(
        "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"
    )
    base = (
        f"origin/{named}"
        if (named := io.env.get("GITHUB_BASE_REF"))
        else default or "origin/main"
    )
    program = "prek" if "PREK_HOOK_STAGE" in io.env else "pre-commit"
    line = f"`{program} run --from-ref {shlex.quote(base)} --to-ref HEAD`, or leave it out: SKIP=cli-guard"
    entry = "" if framework else "end the entry of cli-guard with --framework, and "
    raise UsageError(
        f"NOTHING WAS REVIEWED: only changes are, and nothing is staged. In CI {entry}run {line}"
    )


def prepare_review(io: Io, /, event: str) -> int:
    """Review what is staged, and keep nothing but which files are clean: the commit then has less to do."""
    from cli_guard.server.control import prepares

    if not prepares(io.env) or find_skip(io, "pre-commit"):
        return 0
    from cli_guard.git.prefetch import AUTHOR, BEFORE_COMMIT
    from cli_guard.review.request import Staged
    from cli_guard.review.run import ReviewOptions, never, review_request

    # It runs in the background.
    os.nice(10)
    # Whatever fails here fails again in the review, which reports it.
    with suppress(CliGuardError, OSError):
        repository = io.find_repository(*BEFORE_COMMIT, AUTHOR)
        if repository.bare or not repository.has_staged():
            repository.git.forget()
            return 0
        said = with_author(io.invocation, repository.git)
        options = ReviewOptions(records=never)
        review_request(Staged("pre-commit"), said, options, repository)
    return 0


def with_author(invocation: "Invocation", git: "Commands") -> "Invocation":
    """Return the invocation with the author that Git will name to the hooks of a commit, as far as it is known now.

    They review the author as well: without it what is prepared would not be the commit that is made.
    """
    from dataclasses import replace

    from cli_guard.git.prefetch import AUTHOR

    ident = git.optional(*AUTHOR) or ""
    name, found, rest = ident.partition(" <")
    if not found:
        return invocation
    author = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": rest.partition(">")[0]}
    return replace(invocation, env={**invocation.env, **author})


def review_message(io: Io, /, event: str, file: str, framework: bool = False) -> int:
    """Review a message, and what was staged since the hook before."""
    if is_skipped(io, event):
        return 0
    try:
        raw = io.path(file).read_bytes()
    except OSError as error:
        raise UsageError(
            f"the message file {file} cannot be read: {error.strerror}"
        ) from error
    from cli_guard.review.request import Message

    before = [each.name for each in GIT_HOOKS if each.is_before_commit]
    request = Message(raw, with_change=not any(find_skip(io, name) for name in before))
    # Git runs hooks at the top of the work tree, wherever the user is.
    shown = str(io.path(file)) if io.env.get("GIT_PREFIX") else file
    return answer(io, request, framework=framework, message_file=shown)


def review_push(
    io: Io, /, event: str, remote: str | None, url: str | None, framework: bool
) -> int:
    """Review every ref that is pushed, commit by commit."""
    if is_skipped(io, event):
        return 0
    if io.stdin.isatty():
        raise UsageError(
            f"{event} reads Git's lines from standard input; by hand use `cli-guard review --range A..B`"
        )
    from cli_guard.review.push import PushPlan, read_framework, read_lines
    from cli_guard.review.request import Push

    text = io.read_bytes().decode("utf-8", "surrogateescape")
    plan = PushPlan(read_lines(text))
    if not plan.updates:
        # A framework has read Git's lines itself and passes one ref in the environment: more than nothing in any case.
        plan = read_framework(io.env, "0" * 40) or plan
    name = remote or io.env.get("PRE_COMMIT_REMOTE_NAME") or ""
    code = answer(io, Push(plan, name), framework=framework)
    if (io.cwd / ".cli-guard/signers").exists():
        from cli_guard.answering.auditing import sign_head

        sign_head(io.invocation)
    if code == 0 and plan.updates:
        push_approvals(io, name or url or "")
    return code


def push_approvals(io: Io, remote: str) -> None:
    """Push the signed approvals with the branch if policy says so; a failure is only told."""
    from cli_guard.git.notes import has_notes, push_notes

    repository = io.find_repository()
    if not has_notes(repository):
        return
    from cli_guard.policy.recorded import policy_at_head

    policy, _ = policy_at_head(repository, io.env)
    if not remote or not any(each.push for each in policy.approvals):
        return
    try:
        if push_notes(repository, remote, io.env):
            io.warn("cli-guard: the signed approvals were pushed as well")
    except CliGuardError as error:
        from cli_guard.secrets.printable import printable

        io.warn(f"cli-guard: the signed approvals were not pushed: {printable(str(error))}")


command = Group(
    "hook",
    help="Run a hook: Git and coding agents call this. Set it up with `cli-guard install`.",
)
FRAMEWORK = flag("--framework", "Run by pre-commit or prek, in their entry.")
REMOTE = [click.Argument([name], required=False) for name in ("remote", "url")]
# How a hook answers each request, and with which arguments.
ANSWERS: dict[str, tuple[Callable[..., int], list[click.Parameter]]] = {
    STAGED: (review_staged, [FRAMEWORK]),
    MESSAGE: (review_message, [click.Argument(["file"]), FRAMEWORK]),
    PUSH: (review_push, [*REMOTE, FRAMEWORK]),
    PREPARATION: (prepare_review, []),
}
# The arguments with which Git itself calls the hooks of a commit.
GIVEN: dict[str, tuple[str, ...]] = {STAGED: (), MESSAGE: ("file",), PREPARATION: ()}


def answer_git(io: Io, name: str, *words: str) -> int | None:
    """Run a hook of a commit as Git calls it; None for any other call, which click parses. Raises CliGuardError."""
    request = event_of(name).request if find_hook(["hook", name]) else ""
    names = GIVEN.get(request)
    if names is None or len(words) != len(names):
        return None
    if any(word.startswith("-") for word in words):
        return None
    function, _ = ANSWERS[request]
    return function(io, event=name, **dict(zip(names, words, strict=True)))


for hook in GIT_HOOKS:
    if hook.module:
        command.add_command(import_module(hook.module).command)
        continue
    function, params = ANSWERS[hook.request]
    callback = click.pass_obj(partial(function, event=hook.name))
    command.add_command(
        Command(hook.name, callback=callback, help=hook.summary, params=params)
    )
for each in AGENTS.values():
    command.add_command(
        Command(
            each.name,
            callback=click.pass_obj(partial(answer_agent, agent=each)),
            help=f"Answer a request of {each.title} on standard input. Exit code {BLOCKED:d} blocks the tool.",
        )
    )
