"""Find the change that a plain `git commit` or `git push` would record or send."""

import re

from cli_guard.commands import Context
from cli_guard.commands.effects.arguments import CallArguments, read_arguments
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import ParsedCommand
from cli_guard.commands.programs import table
from cli_guard.commands.scope import ShellScope
from cli_guard.commands.walk import new_shell
from cli_guard.errors import NotARepository
from cli_guard.git.repository import GitRepository
from cli_guard.model import RefUpdate
from cli_guard.review.push import PushPlan
from cli_guard.review.request import Push, Staged
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact

# Options with which the commit is what is staged, and the push what the branch holds.
COMMIT = frozenset(
    "-m --message -q --quiet -v --verbose -s --signoff --trailer --no-gpg-sign".split()
)
PUSH = frozenset(
    "-q --quiet -v --verbose -u --set-upstream --progress --no-progress --porcelain".split()
)
# Keys whose programs run when a commit is made.
RUN_BY_COMMIT = re.compile(
    r"core\.(?:hookspath|editor)\Z|commit\.template\Z|gpg\..*program\Z|filter\.|trailer\.|hook\."
)
BRANCH = re.compile(r"[A-Za-z0-9_][\w./-]*\Z")
NOTHING = "0" * 40


def find_reviewed_change(
    command: str, context: Context, invocation: Invocation
) -> Staged | Push | None:
    """Find the review of what a command records or sends; None for any other command, or one with more options."""
    call = parse_git_call(command, context)
    if call is None or call.sub_command is None or call.unknown or call.loose or call.rest:
        return None
    options = {name for option in call.present for name in option.names}
    operands = [field.text for field in call.operands]
    if (
        call.sub_command.text == "commit"
        and options <= COMMIT
        and not operands
        and is_plain_commit(call, context)
    ):
        return Staged()
    if (
        call.sub_command.text == "push"
        and options <= PUSH
        and all(each is not None for each in operands)
    ):
        return find_push([each for each in operands if each is not None], invocation)
    return None


def is_plain_commit(call: CallArguments, context: Context) -> bool:
    """Return whether the message is given and free of secrets, and no hooks or signing program is configured."""
    messages = [
        value.text
        for option, value in call.values
        if {"-m", "--message"} & set(option.names)
    ]
    known = [text for text in messages if text is not None]
    if (
        not known
        or len(known) < len(messages)
        or redact("\n".join(known)) != "\n".join(known)
    ):
        return False
    return not any(RUN_BY_COMMIT.match(key) for key in context.git_config)


def parse_git_call(command: str, context: Context) -> CallArguments | None:
    """Parse a text that is one call of git and nothing else."""
    script = parse(command)
    only = script.items[0] if len(script.items) == 1 and not script.errors else None
    if not isinstance(only, ParsedCommand) or only.assignments or only.redirects:
        return None
    fields = (
        new_shell(ShellScope(context, folder=context.folder)).expander().fields(only.words)
    )
    git = table("git")
    return (
        read_arguments(git, fields[1:])
        if git and fields and fields[0].text == "git"
        else None
    )


def find_push(operands: list[str], invocation: Invocation) -> Push | None:
    """Find a push of one branch to the branch of the same name, as far as this clone knows the remote."""
    try:
        repository = GitRepository.discover(invocation.cwd, invocation.env)
    except NotARepository:
        return None
    git = repository.git
    head = git.optional("symbolic-ref", "--quiet", "--short", "HEAD")
    branch = operands[1] if len(operands) > 1 and operands[1] != "HEAD" else head
    if branch is None or len(operands) > 2 or not BRANCH.match(branch):
        return None
    keys = (f"branch.{branch}.pushRemote", "remote.pushDefault", f"branch.{branch}.remote")
    remote = (
        operands[0]
        if operands
        else next((name for key in keys if (name := repository.config(key))), "origin")
    )
    tip = git.optional(
        "rev-parse", "--quiet", "--verify", f"refs/heads/{branch}^{{commit}}"
    )
    if tip is None or not BRANCH.match(remote):
        return None
    known = (
        git.optional("rev-parse", "--quiet", "--verify", f"refs/remotes/{remote}/{branch}")
        or NOTHING
    )
    updates = (
        ()
        if known == tip
        else (RefUpdate(f"refs/heads/{branch}", tip, f"refs/heads/{branch}", known),)
    )
    return Push(PushPlan(updates), remote)
