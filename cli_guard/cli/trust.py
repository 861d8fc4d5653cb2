"""`cli-guard trust`: show the commands of a repository's checks to a person, who lets them run."""

from collections.abc import Iterator

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.cli.prompt import ask_yes, person_needed
from cli_guard.commands import Context, judge
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.checks.planning import context_of_checks
from cli_guard.execution.checks.trust import Trusted
from cli_guard.git.repository import Repository
from cli_guard.model import Decision
from cli_guard.policy.checks import CheckConfig, digest_of
from cli_guard.policy.config import read_user_config
from cli_guard.policy.decisions import Policy
from cli_guard.review.policy import recorded_policy
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

VERDICTS = {
    Decision.ALLOW: "harmless",
    Decision.REVIEW: "yours to decide",
    Decision.DENY: "never runs, even if trusted",
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
        "given": ", ".join(f"{variable}={value}" for variable, value in check.environment.items()),
        "sees of your environment": ", ".join(check.pass_environment),
        "in": check.working_dir,
        "port": str(check.needs_port or ""),
        "only for": ", ".join(check.files),
    }
    yield from (f"    {what}: {text}" for what, text in further.items() if text)


def show(io: Io, repository: Repository, policy: Policy) -> None:
    """Print every check of a configuration."""
    context = context_of_checks(repository, policy, io.invocation)
    lines = (
        line for name, check in policy.config.checks.items() for line in describe_check(name, check, context)
    )
    # As one text: a secret may span several lines.
    io.say(printable(redact("\n".join(lines), "cli-guard.toml"), keep_newlines=True))


@click.pass_obj
def run(io: Io, /, show_: bool, revoke: bool, rev: str) -> int:
    """Show the checks of a configuration, and let a person trust them."""
    if show_ and revoke:
        raise UsageError("--show and --revoke exclude each other: give one of them")
    repository = Repository.discover(io.cwd, io.env)
    trusted = Trusted(io.invocation)
    try:
        if revoke:
            taken = trusted.revoke(repository)
            io.say(
                f"cli-guard: {'the checks here are no longer trusted' if taken else 'nothing was trusted here'}"
            )
            return 0
        return ask_for_trust(io, repository, trusted, repository.resolve(rev), asking=not show_)
    except OSError as error:
        raise CliGuardError(f"it cannot be written to {error.filename}: {error.strerror}") from error


def ask_for_trust(io: Io, repository: Repository, trusted: Trusted, commit: str, *, asking: bool) -> int:
    """Show the checks at a commit and, if they are not trusted yet, ask about them. Raises OSError."""
    config = recorded_policy(repository, commit)[0]
    at = "HEAD" if commit == repository.head else commit[:12]
    if not config.checks:
        io.say(
            f"cli-guard: the configuration at {at} has no checks; commit it first if you have just added some"
        )
        return 0
    show(io, repository, Policy(config, read_user_config(io.env)))
    digest = digest_of(config.checks)
    trust = trusted.find(repository, digest)
    if trust or not asking:
        io.say(f"cli-guard: {printable(trust.words) if trust else 'not trusted: they do not run'}")
        return 0
    person_needed(io, "trust", "trust")
    io.say(WARNING)
    if not ask_yes(io, "Trust these checks in this repository?"):
        io.say("cli-guard: not trusted")
        return 1
    trusted.give(repository, digest)
    io.say("cli-guard: trusted; run the commit or push again")
    return 0


command = Command(
    "trust",
    callback=run,
    help="Show the commands of [checks] in the committed configuration with the verdict on each, and ask whether they"
    " may run before a commit or push. Your trust is valid only for you, this repository and exactly these checks; it"
    " is written to the audit log.",
    params=[
        click.Option(
            ["--show", "show_"], is_flag=True, help="Only show the checks and whether they are trusted."
        ),
        click.Option(["--revoke"], is_flag=True, help="Withdraw the trust in this repository."),
        click.Option(
            ["--rev"],
            default="HEAD",
            show_default=True,
            metavar="REV",
            help="The commit whose configuration to read.",
        ),
    ],
)
