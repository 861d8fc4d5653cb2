"""`cli-guard allow`: save a rule that allows a command from now on, after showing a person what it covers."""

import shlex
from dataclasses import replace

import click

from cli_guard.approvals.seals import seals_of
from cli_guard.cli.app import Command, flag, option
from cli_guard.cli.io import Io
from cli_guard.cli.prompt import ask_yes, person_needed
from cli_guard.commands import judge
from cli_guard.commands.saved_rules import check_rule, describe_rule
from cli_guard.errors import UsageError
from cli_guard.execution.context import command_context
from cli_guard.execution.installs import find_install_files, was_allowed
from cli_guard.execution.programs import describe_program
from cli_guard.model import Decision
from cli_guard.policy.config import read_user_config
from cli_guard.policy.writing import allow_command
from cli_guard.runtime import user_file
from cli_guard.secrets.printable import printable
from cli_guard.state.files import explain_write_errors, make_folder, write_atomically
from cli_guard.state.questions import last_questions
from cli_guard.state.trees import Tree, TrustedTrees, require_commit

# The answer about installs, beside the patterns of rules.
INSTALLS = "installs"


@click.pass_obj
def run(
    io: Io,
    /,
    pattern: str | None,
    last: bool,
    program: str | None,
    list_: bool,
    remove: str | None,
    user: bool,
    installs: bool,
) -> int:
    """Save one rule, list the rules of this work tree, or remove one."""
    given = (pattern is not None, last, program is not None, list_, remove is not None)
    if sum((*given, installs)) != 1:
        raise UsageError(
            "give one of: a pattern, --last, --program, --installs, --list, --remove"
        )
    if user and installs:
        raise UsageError("--installs is about the lock files of one work tree: omit --user")
    if installs:
        return allow_installs(io)
    if user and (list_ or remove is not None):
        raise UsageError(
            f"the rules for all work trees are in {user_file(io.env)}: edit them there"
        )
    if list_ or remove is not None:
        return edit_rules(io, remove)
    context = command_context(io.cwd, io.env)
    if program is not None:
        if not program.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise UsageError(f"{program!r} is not the name of a program")
        io.say(
            printable(
                "\n".join(describe_program(program, context, io.env)), keep_newlines=True
            )
        )
        pattern = f"{program} *"
    elif last:
        pattern = find_last(io)
    assert pattern is not None  # noqa: S101 - one of the three was given
    covered, near = check_rule(pattern, context)
    lines = [f"A rule for {describe_rule(pattern)}"]
    lines += [f"    allows      {each}" for each in covered]
    lines += [f"    still asks  {each}" for each in near]
    io.say(printable("\n".join(lines), keep_newlines=True))
    options = ("--user",) if user else ()
    person_needed(io, "a new rule", shlex.join(("allow", *options, pattern)))
    if not user:
        seals_of(io.find_repository(), io.env).require()
    where = "in every work tree" if user else "in this work tree"
    if not ask_yes(io, f"Allow this {where}?", once=False):
        io.say("cli-guard: nothing was saved")
        return 1
    save(io, pattern, user=user)
    return 0


def find_last(io: Io) -> str:
    """Return the pattern for the command that an agent was asked about last here. Raises UsageError."""
    here = [
        each
        for each in last_questions(io.invocation)
        if (io.cwd / each.folder).is_relative_to(io.cwd)
    ]
    if not here:
        raise UsageError("no command of a coding agent was asked about here")
    if here[0].masked:
        raise UsageError(
            "the last command holds a secret, or is too long: write the pattern yourself, without it"
        )
    io.say(f"{here[0].agent} asked on {here[0].at[:16]}: {printable(here[0].command)}")
    verdict = judge(here[0].command, command_context(io.cwd / here[0].folder, io.env))
    if verdict.verdict is not Decision.REVIEW:
        raise UsageError(f"it is answered with {verdict.verdict} now: no rule is needed")
    if verdict.savable is None:
        raise UsageError(
            f"no rule can be saved for it, as each call must be looked at: {verdict.reason}"
        )
    return verdict.savable


def save(io: Io, pattern: str, *, user: bool) -> None:
    """Keep a rule for this work tree, or in the user's own file. Raises CliGuardError."""
    if user:
        path = user_file(io.env)
        config = read_user_config(io.env)
        if config and config.approvals.trust != "tty":
            raise UsageError(
                "your own file wants signed rules (approvals.trust), and it cannot hold any: omit --user"
            )
        if path is None:
            raise UsageError("it cannot be saved: set HOME or XDG_CONFIG_HOME")
        with explain_write_errors():
            before = path.read_text("utf-8") if path.exists() else ""
            after = allow_command(before, pattern, str(path))
            if not path.parent.exists():
                make_folder(path.parent)
            write_atomically(path, after)
        io.say(f"cli-guard: saved in {path}")
        return
    repository = io.find_repository()
    require_commit(repository)
    trees = TrustedTrees(io.env)
    seals = seals_of(repository, io.env)
    tree = trees.find(repository, io.invocation.now, seals) or Tree("")
    kept = (*(each for each in tree.allow if each != pattern), pattern)
    trees.keep(replace(tree, allow=kept), repository, io.invocation, seals)
    io.say("cli-guard: saved for this work tree; `cli-guard allow --list` shows its rules")


def allow_installs(io: Io) -> int:
    """Ask whether the packages that the lock files at HEAD name may be installed. Raises UsageError, CliGuardError."""
    repository = io.find_repository()
    require_commit(repository)
    trees = TrustedTrees(io.env)
    seals = seals_of(repository, io.env)
    tree = trees.find(repository, io.invocation.now, seals)
    if tree is None or tree.profile_in_force != "workspace":
        raise UsageError(
            "this work tree is not trusted as a workspace: run `cli-guard trust --agents` first"
        )
    head = repository.head or ""
    if not was_allowed(repository, head):
        raise UsageError(
            f"no review in the audit log allowed {head[:12]}: run `cli-guard review --commit HEAD`"
        )
    found = find_install_files(repository)
    lines = [f"Installs of what these files name, as they are at {head[:12]}:"]
    lines += [f"    {each}" for each in found.digests]
    lines += [
        f"    still asks: {each} has sources that it does not fix by a digest"
        for each in found.left_out
    ]
    lines.append(
        "    Only with options that keep to the lock file and run no install scripts, such as"
        " `npm ci --ignore-scripts`. A change of any of these files asks again."
    )
    if not found.locks:
        raise UsageError("no lock file at HEAD names all its packages with their digests")
    io.say(printable("\n".join(lines), keep_newlines=True))
    person_needed(io, "allowing installs", "allow --installs")
    seals.require()
    if not ask_yes(io, "Allow these installs in this work tree?", once=False):
        io.say("cli-guard: nothing was saved")
        return 1
    answered = replace(tree, installs=found.lines, installs_at=head)
    trees.keep(answered, repository, io.invocation, seals)
    io.say(
        "cli-guard: saved for this work tree; `cli-guard allow --remove installs` ends it"
    )
    return 0


def edit_rules(io: Io, remove: str | None) -> int:
    """Print the rules of this work tree, or remove one. Raises UsageError, CliGuardError."""
    repository = io.find_repository()
    trees = TrustedTrees(io.env)
    seals = seals_of(repository, io.env)
    tree = trees.find(repository, io.invocation.now, seals)
    rules = tree.allow if tree else ()
    if tree and tree.installs:
        rules = (*rules, INSTALLS)
    if remove is None:
        io.say(
            printable("\n".join(rules), keep_newlines=True)
            if rules
            else "cli-guard: no rules here"
        )
        return 0
    if tree is None or remove not in rules:
        raise UsageError(f"there is no rule {remove!r} here: see `cli-guard allow --list`")
    kept = tuple(each for each in tree.allow if each != remove)
    if remove == INSTALLS:
        tree = replace(tree, installs=(), installs_at="")
    trees.keep(replace(tree, allow=kept), repository, io.invocation, seals)
    io.say("cli-guard: removed")
    return 0


command = Command(
    "allow",
    callback=run,
    help="Allow a command from now on: PATTERN is its words, and a last * stands for any further words. Shows"
    " commands that it covers and near ones that it does not, and asks. What is denied stays so under every rule, and"
    " these still ask: options that load code or name other folders and hosts, and what reads secrets.",
    params=[
        click.Argument(["pattern"], required=False),
        flag("--last", "The command that a coding agent was asked about last here."),
        option(
            "--program", "NAME", "Every call of a program that cli-guard does not know."
        ),
        flag(
            "--installs",
            "Installing the packages that the lock files at HEAD name, without their install scripts.",
        ),
        flag("--user", "Save it for all work trees instead of this one."),
        flag("--list list_", "List the rules of this work tree."),
        option("--remove", "PATTERN", "Remove a rule of this work tree."),
    ],
)
