"""`cli-guard trust`: ask a person about the checks of a repository, and about coding agents in its work tree."""

import datetime
from collections.abc import Iterator
from dataclasses import replace

import click

from cli_guard.agents.dialects import describe_allow
from cli_guard.agents.registry import AGENTS
from cli_guard.approvals.seals import PolicySeals, seals_of
from cli_guard.cli.app import Command, Day, choice, flag, option
from cli_guard.cli.io import Io
from cli_guard.cli.prompt import ask_yes, person_needed
from cli_guard.commands import Context, judge
from cli_guard.errors import UsageError
from cli_guard.execution.checks.planning import context_of_checks
from cli_guard.execution.checks.trust import Trusted
from cli_guard.execution.work_tree import TrustedTree
from cli_guard.lazy import frozen
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
        "its own tests, builds, linters and scripts (changed files included), use Git locally, and local servers.",
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
    """Describe a work tree, and what trust lets commands of coding agents do there."""
    head = repository.head or ""
    remote = repository.config("remote.origin.url")
    yield f"{repository.root} at {head[:12]}{f', from {remote}' if remote else ''}"
    yield from (f"    {line}" for line in PROFILES[profile])
    if profile == "workspace":
        asking = [each for each in AGENTS.values() if each.load().is_installed(repository)]
        yield from (f"    {describe_allow(each)}." for each in asking)
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
        profile = tree.profile_in_force
        line = f"{tree.path}: {profile}, by {tree.by} on {tree.at[:10]}{until}{more}"
        io.say(printable(f"{line}{ended}"))
    if not trees:
        io.say("cli-guard: no work tree is trusted")
    return 0


def revoke_trust(io: Io, repository: Repository, *, checks: bool, agents: bool) -> int:
    """Withdraw the trust in the checks of a repository, in coding agents in its work tree, or both."""
    revoked = []
    if agents and TrustedTrees(io.env).revoke(repository, io.invocation):
        revoked.append("coding agents in this work tree")
    if checks and Trusted(io.invocation).revoke(repository) > 0:
        revoked.append("the checks")
    said = "nothing was trusted here"
    if revoked:
        said = f"{' and '.join(revoked)}: no longer trusted"
    io.say(f"cli-guard: {said}")
    return 0


@frozen
class TrustQuestions:
    """Asks about the checks of a repository, and about coding agents in its work tree: two decisions.

    With `asking` off it only shows what they are about. A method returns the answer, None if nothing was asked.
    """

    io: Io
    repository: Repository
    seals: PolicySeals
    asking: bool

    def confirm(self, question: str) -> bool:
        """Ask the person. Raises UsageError if none can answer."""
        person_needed(self.io, "trust", "trust")
        self.seals.require()
        return ask_yes(self.io, question, once=False)

    def ask_about_checks(self, commit: str, *, named: bool) -> bool | None:
        """Show the checks at a commit, and ask unless they are trusted; `named`: they were asked for by an option."""
        io = self.io
        config = recorded_policy(self.repository, commit)[0]
        if not config.checks:
            if mentions_checks(self.repository):
                io.say("The [checks] are not committed yet: they are not part of this.")
            elif named:
                io.say(f"cli-guard: the configuration at {commit[:12]} has no checks")
            return None
        digest = digest_of(config.checks)
        trusted = Trusted(io.invocation)
        show(io, self.repository, Policy(config, read_user_config(io.env)))
        known = trusted.find(self.repository, digest, self.seals)
        if known or not self.asking:
            state = known.words if known else "not trusted: they do not run"
            io.say(printable(f"cli-guard: the checks are {state}"))
            return None
        io.say(WARNING)
        if not self.confirm("Trust these checks?"):
            io.say("cli-guard: the checks are not trusted: they do not run")
            return False
        trusted.give(self.repository, digest, self.seals)
        io.say("cli-guard: the checks are trusted; run the commit or push again")
        return True

    def ask_about_agents(self, profile: str, expires: str) -> bool | None:
        """Show what coding agents may do in the work tree, and ask unless they are trusted as far already."""
        io = self.io
        trees = TrustedTrees(io.env)
        shown = "\n".join(describe_tree(self.repository, profile))
        io.say(printable(shown, keep_newlines=True))
        known = trees.find(self.repository, io.invocation.now, self.seals)
        is_same = (
            known and known.agents and (known.profile, known.expires) == (profile, expires)
        )
        if is_same or not self.asking:
            state = known.words if known and known.agents else "not trusted here"
            io.say(printable(f"cli-guard: coding agents are {state}"))
            return None
        if not self.confirm("Trust coding agents in this work tree?"):
            io.say("cli-guard: coding agents are not trusted here: they ask as before")
            return False
        tree = replace(known or Tree(""), profile=profile, expires=expires, agents=True)
        trees.keep(tree, self.repository, io.invocation, self.seals)
        io.say(f"cli-guard: coding agents are trusted in this work tree: {profile}")
        return True


@click.pass_obj
def run(
    io: Io,
    /,
    show_: bool,
    revoke: bool,
    list_: bool,
    checks: bool,
    agents: bool,
    rev: str,
    profile: str | None,
    expires: datetime.datetime | None,
) -> int:
    """Show a work tree and its checks, and let a person trust them: one question each."""
    if show_ + revoke + list_ > 1:
        raise UsageError("--show, --list and --revoke exclude each other: give one of them")
    if list_:
        return list_trees(io)
    repository = io.find_repository()
    both = checks == agents
    if revoke:
        return revoke_trust(io, repository, checks=checks or both, agents=agents or both)
    if checks and not agents and (profile or expires):
        raise UsageError("--profile and --expires are about --agents: add it")
    until = expires.date().isoformat() if expires else ""
    if until and until < io.invocation.now.date().isoformat():
        raise UsageError(f"--expires {until} is in the past")
    is_work_tree = rev == "HEAD" and not repository.bare
    if agents and not is_work_tree:
        raise UsageError("--agents is about a work tree: run it in one, without --rev")
    wants_agents = is_work_tree and (agents or both)
    if wants_agents:
        require_commit(repository)
    questions = TrustQuestions(
        io, repository, seals_of(repository, io.env), asking=not show_
    )
    answers = []
    if checks or both:
        named = checks or not is_work_tree
        commit = repository.resolve(rev)
        answers.append(questions.ask_about_checks(commit, named=named))
    if wants_agents:
        answers.append(questions.ask_about_agents(profile or "workspace", until))
    return 1 if False in answers and True not in answers else 0


command = Command(
    "trust",
    callback=run,
    help="Answer two questions, each once: may the [checks] of the committed configuration run at a commit or push, and"
    " may coding agents work in this work tree without asking? A yes counts only for you, this repository, and"
    " exactly these checks or this work tree; it is written to the audit log.",
    params=[
        flag("--checks", "Ask about the checks alone."),
        flag("--agents", "Ask about coding agents alone."),
        flag("--show show_", "Only show what each is about, and whether it is trusted."),
        flag("--list list_", "List the work trees that you trust."),
        flag(
            "--revoke", "Withdraw the trust in both, or in what --checks or --agents names."
        ),
        choice(
            "--profile",
            PROFILES,
            "How far agents are trusted; strict: to read; floors: their own rules decide, but for what is always"
            " denied.  [default: workspace]",
        ),
        option(
            "--expires",
            "DATE",
            "The last day of the trust in agents.",
            rare=True,
            type=Day(),
        ),
        option(
            "--rev",
            "REV",
            "The commit whose checks to read; with any other than HEAD only they are asked about.",
            rare=True,
            default="HEAD",
            show_default=True,
        ),
    ],
)
