"""`cli-guard trust`: show a work tree and the commands of its checks to a person, who trusts them."""

import datetime
from collections.abc import Iterator
from dataclasses import replace

import click

from cli_guard.approvals.seals import seals_of
from cli_guard.cli.app import Command, Day
from cli_guard.cli.io import Io
from cli_guard.cli.prompt import ask_yes, person_needed
from cli_guard.commands import Context, judge
from cli_guard.errors import UsageError
from cli_guard.execution.checks.planning import context_of_checks
from cli_guard.execution.checks.trust import Trusted
from cli_guard.execution.work_tree import TrustedTree
from cli_guard.model import Decision
from cli_guard.policy.checks import CheckConfig, digest_of
from cli_guard.policy.config import FILE, read_user_config
from cli_guard.policy.decisions import Policy
from cli_guard.policy.recorded import recorded_policy
from cli_guard.repository.protocol import Repository
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.trees import Tree, TrustedTrees, require_commit

VERDICTS = {
    Decision.ALLOW: "harmless",
    Decision.REVIEW: "yours to decide",
    Decision.DENY: "never runs, even if trusted",
}
# What the trust in a work tree means, by profile.
PROFILES = {
    "workspace": (
        "Commands of coding agents then run without a question if they stay in this tree: they write its files, run",
        "its own tests, builds, linters and scripts (changed files included), use Git locally, and this machine.",
        "Asked as before: writing elsewhere, the network, installing, publishing, pushing, losing work, secrets, CI.",
    ),
    "strict": ("Commands of coding agents ask unless they only read.",),
    "floors": (
        "Commands of coding agents are left to the agent's own rules, but for those that are never allowed.",
    ),
}
WARNING = (
    "They run as you, with the code that is committed or pushed, in a scratch copy of it. A change of any of them asks"
    " again."
)


def describe_check(name: str, check: CheckConfig, context: Context) -> Iterator[str]:
    """Describe a check and the verdict on each of its commands."""
    yield f"{name} ({', '.join(check.stage)})"
    texts = [text for text in (check.command, check.server) if text]
    for what, text, command in zip(("runs", "server"), texts, check.commands, strict=False):
        judged = judge(command, context)
        yield from (f"    {what}: {line}" for line in text.strip().split("\n"))
        yield f"        {VERDICTS[judged.verdict]}: {judged.reason}"
    further = {
        "given": ", ".join(
            f"{variable}={value}" for variable, value in check.environment.items()
        ),
        "sees of your environment": ", ".join(check.pass_environment),
        "in": check.working_dir,
        "port": str(check.needs_port or ""),
        "reports findings as": check.report or "",
        "only for": ", ".join(check.files),
    }
    yield from (f"    {what}: {text}" for what, text in further.items() if text)


def show(io: Io, repository: Repository, policy: Policy) -> None:
    """Print every check of a configuration."""
    context = context_of_checks(repository, policy, io.invocation)
    lines = (
        line
        for name, check in policy.config.checks.items()
        for line in describe_check(name, check, context)
    )
    # As one text: a secret may span several lines.
    io.say(printable(redact("\n".join(lines), "cli-guard.toml"), keep_newlines=True))


def describe_tree(repository: Repository, profile: str) -> Iterator[str]:
    """Describe a work tree, and what trust in it lets commands of coding agents do."""
    head = repository.head or ""
    remote = repository.config("remote.origin.url")
    yield f"{repository.root} at {head[:12]}{f', from {remote}' if remote else ''}"
    yield from (f"    {line}" for line in PROFILES[profile])
    if not TrustedTree(repository.root, repository.git).reviews_commits():
        yield "    No hook reviews the commits here, so `git commit` asks: run `cli-guard install`."


def mentions_checks(repository: Repository) -> bool:
    """Return whether a configuration in the work tree has checks, committed or not."""
    try:
        return b"[checks." in (repository.root / FILE).read_bytes()
    except OSError:
        return False


def list_trees(io: Io) -> int:
    """Print every work tree of this user's trust."""
    trees = TrustedTrees(io.env).all()
    for tree in trees:
        until = f", until {tree.expires}" if tree.expires else ""
        ended = "" if tree.is_valid(io.invocation.now) else " (expired)"
        count = len(tree.allow)
        more = ""
        if count:
            more = f", {count} {'rule' if count == 1 else 'rules'}"
        line = f"{tree.path}: {tree.profile}, by {tree.by} on {tree.at[:10]}{until}{more}{ended}"
        io.say(printable(line))
    if not trees:
        io.say("cli-guard: no work tree is trusted")
    return 0


@click.pass_obj
def run(
    io: Io,
    /,
    show_: bool,
    revoke: bool,
    list_: bool,
    rev: str,
    profile: str,
    expires: datetime.datetime | None,
) -> int:
    """Show a work tree and its checks, and let a person trust them."""
    if show_ + revoke + list_ > 1:
        raise UsageError("--show, --list and --revoke exclude each other: give one of them")
    if list_:
        return list_trees(io)
    repository = io.find_repository()
    trusted = Trusted(io.invocation)
    if revoke:
        gone = [
            TrustedTrees(io.env).revoke(repository, io.invocation),
            trusted.revoke(repository) > 0,
        ]
        names = [
            name
            for name, was in zip(("the work tree", "its checks"), gone, strict=True)
            if was
        ]
        said = (
            f"{' and '.join(names)}: no longer trusted"
            if names
            else "nothing was trusted here"
        )
        io.say(f"cli-guard: {said}")
        return 0
    until = expires.date().isoformat() if expires else ""
    if until and until < io.invocation.now.date().isoformat():
        raise UsageError(f"--expires {until} is in the past")
    tree = None
    if rev == "HEAD" and not repository.bare:
        require_commit(repository)
        tree = Tree("", profile=profile, expires=until)
    return ask_for_trust(
        io, repository, trusted, repository.resolve(rev), tree, asking=not show_
    )


def ask_for_trust(
    io: Io,
    repository: Repository,
    trusted: Trusted,
    commit: str,
    tree: Tree | None,
    *,
    asking: bool,
) -> int:
    """Show a work tree and the checks at a commit and, unless they are trusted already, ask."""
    config = recorded_policy(repository, commit)[0]
    trees = TrustedTrees(io.env)
    known = None
    seals = seals_of(repository, io.env)
    if tree:
        io.say(
            printable(
                "\n".join(describe_tree(repository, tree.profile)), keep_newlines=True
            )
        )
        known = trees.find(repository, io.invocation.now, seals)
        if not config.checks and mentions_checks(repository):
            io.say("    The [checks] are not committed yet: they are not part of this.")
    elif not config.checks:
        io.say(f"cli-guard: the configuration at {commit[:12]} has no checks")
        return 0
    digest = digest_of(config.checks) if config.checks else ""
    if digest:
        show(io, repository, Policy(config, read_user_config(io.env)))
    trust = trusted.find(repository, digest, seals) if digest else None
    same = tree is None or (
        known and (known.profile, known.expires) == (tree.profile, tree.expires)
    )
    if not asking or (same and (trust or not digest)):
        state = []
        if tree:
            state.append(f"the work tree is {known.words if known else 'not trusted'}")
        if trust:
            state.append(f"the checks are {trust.words}")
        elif digest:
            state.append("the checks are not trusted: they do not run")
        io.say(f"cli-guard: {printable('; '.join(state))}")
        return 0
    person_needed(io, "trust", "trust")
    seals.require()
    if digest:
        io.say(WARNING)
    what = " and ".join(
        name
        for name, given in (("this work tree", tree), ("these checks", digest))
        if given
    )
    if not ask_yes(io, f"Trust {what}?", once=False):
        io.say("cli-guard: not trusted")
        return 1
    if digest:
        trusted.give(repository, digest, seals)
    if tree:
        tree = replace(known or tree, profile=tree.profile, expires=tree.expires)
        trees.keep(tree, repository, io.invocation, seals)
    io.say(f"cli-guard: trusted{'; run the commit or push again' if digest else ''}")
    return 0


command = Command(
    "trust",
    callback=run,
    help="Trust this work tree once, so that commands which stay in it run without a question, and the commands of"
    " [checks] in the committed configuration before a commit or push. Your trust is valid only for you, this path in"
    " this repository, and exactly these checks; it is written to the audit log.",
    params=[
        click.Option(
            ["--show", "show_"],
            is_flag=True,
            help="Only show the work tree and the checks, and whether they are trusted.",
        ),
        click.Option(
            ["--list", "list_"], is_flag=True, help="List the work trees that you trust."
        ),
        click.Option(
            ["--revoke"],
            is_flag=True,
            help="Withdraw the trust in this work tree and its checks.",
        ),
        click.Option(
            ["--profile"],
            type=click.Choice(tuple(PROFILES)),
            default="workspace",
            show_default=True,
            help="strict: only the checks; floors: answer nothing but what is denied.",
        ),
        click.Option(
            ["--expires"],
            type=Day(),
            metavar="DATE",
            help="The last day of the trust in the tree.",
        ),
        click.Option(
            ["--rev"],
            default="HEAD",
            show_default=True,
            metavar="REV",
            help="The commit whose checks to read; any other than HEAD trusts its checks alone.",
        ),
    ],
)
