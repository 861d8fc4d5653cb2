"""`cli-guard doctor`: show what is installed, which policy is in force and what would run."""

import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress

import click

from cli_guard import __version__
from cli_guard.agents.dialects import describe_allow, find_entry
from cli_guard.agents.probe import lacks_program, probe_agent
from cli_guard.agents.registry import AGENTS
from cli_guard.approvals.seals import seals_of
from cli_guard.approvals.storage import StateFolder
from cli_guard.cli.app import Command, flag
from cli_guard.cli.io import Io
from cli_guard.cli.server import describe_server
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.checks.trust import Trusted
from cli_guard.git.configured import configured_events, runs_configured
from cli_guard.git.hooks import (
    configured_folder,
    hooks_folder,
    is_intact,
    state_of,
    usual_hooks,
)
from cli_guard.git.managers import FRAMEWORKS, find_managers, find_runners
from cli_guard.hooks import PREPARATION
from cli_guard.policy.checks import digest_of
from cli_guard.policy.config import DEFAULT_DECISIONS, FILE
from cli_guard.policy.decisions import Policy
from cli_guard.policy.recorded import policy_at_head
from cli_guard.report.unallowed import describe, find_unallowed
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.words import count
from cli_guard.reviewers.registry import REVIEWERS
from cli_guard.runtime import user_file
from cli_guard.secrets.printable import printable
from cli_guard.server import control
from cli_guard.state.records import Records
from cli_guard.state.trees import TrustedTrees


def program_lines(repository: Repository) -> Iterator[str]:
    yield f"cli-guard {__version__} at {shutil.which('cli-guard') or sys.executable + ' -m cli_guard'}"
    yield f"Python {platform.python_version()} at {sys.executable}"
    yield repository.git.text("version")


def hook_lines(repository: Repository, verbose: bool) -> Iterator[str]:
    """Describe the hooks that Git would run."""
    refusal = "no hook runs cli-guard here: run `cli-guard install`"
    try:
        folder = hooks_folder(repository)
    except UsageError as error:
        refusal = str(error)
        scope, value = configured_folder(repository) or ("", "")
        folder = (repository.git_dir if repository.bare else repository.root) / value
        yield f"core.hooksPath ({scope}): {value}"
    managers = find_managers(repository)
    configured = configured_events(repository)
    if configured and not runs_configured(repository.git.text("version")):
        yield f"{', '.join(sorted(configured))}: configured, but this Git runs no configured hook"
        configured = {}
    guarded = False
    for event in usual_hooks(repository):
        name = event.name
        state = state_of(folder, name)
        runners = (
            [f"cli-guard, configured as hook.{configured[name]}"]
            if name in configured
            else []
        )
        runners += find_runners(state, managers)
        guarded = guarded or (event.request != PREPARATION and bool(runners))
        text = " and ".join(runners) or (
            "not installed" if state.owner == "none" else "another program"
        )
        text += "; both review it: remove one" if len(runners) > 1 else ""
        yield f"{name}: {text}" + (", after the existing hook" if state.chained else "")
        is_own = configured.get(name) == f"cli-guard-{name}"
        script = (
            repository.common_dir / "hooks" / "cli-guard" / name if is_own else state.slot
        )
        if (is_own or state.owner == "ours") and not is_intact(
            script, name, sys.executable
        ):
            yield f"! {script} is not as this cli-guard writes it, or cannot run: install it again"
    for each in managers:
        yield f"{each.place}: {'calls' if each.stages else 'does not call'} cli-guard"
        if each.stages and not each.active:
            refusal = f"{each.place} calls cli-guard, but no hook runs {each.name} here: run `{each.setup}`"
        elif each.active and each.place not in FRAMEWORKS:
            refusal = f"{each.name} runs no cli-guard here: `cli-guard install` prints what adds it"
    if not guarded:
        yield f"! {refusal}"
    if not repository.bare:
        yield from agent_lines(repository, verbose)


def agent_lines(repository: Repository, verbose: bool) -> Iterator[str]:
    """Describe the hooks of the coding agents in use; `verbose`: and what their format is known from."""
    for agent in AGENTS.values():
        module = agent.load()
        asks = module.is_installed(repository)
        if asks is not None:
            yield f"{agent.title}: {'asks cli-guard first' if asks else 'does not ask cli-guard'}"
        if asks:
            yield f"    {describe_allow(agent)}"
        call = None
        with suppress(UsageError):  # one that agents do not obey
            call = module.find_call(repository) if asks else None
        if call and lacks_program(call[0], repository.git.env.get("PATH", "")):
            yield f"! cli-guard is not on PATH, so {agent.title} is not judged here: add its folder to PATH"
        if asks and verbose:
            yield f"    its format: {' '.join(find_entry(agent.name).source.split())}"


def policy_lines(io: Io, repository: Repository) -> Iterator[str]:
    """Describe the policy that judges the next commit."""
    try:
        policy, notes = policy_at_head(repository, io.env)
    except CliGuardError as error:
        yield f"! {error}"
        return
    yield f"from {' and '.join(policy.sources)}"
    yield from notes
    decisions = DEFAULT_DECISIONS | policy.config.decisions
    yield ", ".join(f"{severity}: {wanted}" for severity, wanted in decisions.items())
    for pattern, wanted in policy.config.rules.items():
        yield f"{pattern}: {wanted}"
    yield f"{len(policy.config.ignore)} ignores, {len(policy.baseline)} findings in the baseline"
    yield "every setting: `cli-guard config show`"
    yield from check_lines(io, repository, policy)
    yield tree_line(io, repository)
    own = user_file(io.env)
    yield f"user file: {own if own and own.exists() else 'none'}"
    if (
        not repository.bare
        and (repository.root / FILE).exists()
        and "at" not in policy.sources[0]
    ):
        yield f"! {FILE} is in the work tree but not in HEAD: it applies once it is committed"


def tree_line(io: Io, repository: Repository) -> str:
    """Describe how far coding agents are trusted in the work tree."""
    try:
        tree = TrustedTrees(io.env).find(
            repository, io.invocation.now, seals_of(repository, io.env)
        )
    except CliGuardError as error:
        return f"! {error}"
    if tree and tree.agents:
        return f"coding agents: {tree.words}"
    return "coding agents: not trusted in this work tree, see `cli-guard trust --agents`"


def check_lines(io: Io, repository: Repository, policy: Policy) -> Iterator[str]:
    """Describe the checks of the repository, and whether they are trusted."""
    if not policy.config.checks:
        return

    names = ", ".join(policy.config.checks)
    try:
        trust = Trusted(io.invocation).find(
            repository, digest_of(policy.config.checks), seals_of(repository, io.env)
        )
    except CliGuardError as error:
        yield f"! {error}"
        return
    yield (
        f"checks: {names} ({trust.words})"
        if trust
        else f"! checks: {names}: not trusted, see `cli-guard trust --checks`"
    )


def run_lines(io: Io, repository: Repository) -> Iterator[str]:
    """Describe the server, the records, and variables that switch cli-guard off."""
    yield f"reviewers: {', '.join(reviewer.name for reviewer in REVIEWERS)}"
    for name in ("SKIP", "CLI_GUARD"):
        if io.env.get(name):
            yield f"! {name}={io.env[name]} is set"
    found = control.status()
    state = describe_server(found) if found else control.why_not(io.env)
    yield f"warm server: {state or 'not running; the next review starts it'}"

    records = Records(repository.state_folder)
    yield f"state folder: {records.folder}"
    given = len(StateFolder(records).read_unsigned())
    yield f"{count(len(records.pending()), 'pending review')}, {count(given, 'approval')} given"
    try:
        result = records.audit.verify()
    except OSError as error:
        yield f"! audit log: cannot be read: {error.strerror}"
        return
    yield f"{'! ' if result.problem else ''}audit log: {result}"
    try:
        unallowed = describe(find_unallowed(repository, list(records.audit.entries())))
    except CliGuardError as error:
        unallowed = f"! {error}"
    if unallowed:
        yield unallowed


def probe_lines(io: Io, repository: Repository) -> Iterator[str]:
    """Describe in which states the hooks of the coding agents fail to block a tool."""
    lines = [
        line for agent in AGENTS.values() for line in probe_agent(agent, repository, io.env)
    ]
    yield from lines or [
        "! no coding agent asks cli-guard here: run `cli-guard install --agent NAME`"
    ]


@click.pass_obj
def run(io: Io, /, probe: bool, timing: bool, verbose: bool) -> int:
    """Print the lines; return 1 if one of them is marked with !."""
    if probe and timing:
        raise UsageError("--probe and --timing exclude each other: give one of them")
    if timing:
        from cli_guard.cli.timing import show_timing

        io.say(show_timing(io))
        return 0
    repository = io.find_repository()
    sections = (
        {"Agents": list(probe_lines(io, repository))}
        if probe
        else {
            "Programs": list(program_lines(repository)),
            "Hooks": list(hook_lines(repository, verbose)),
            "Policy": list(policy_lines(io, repository)),
            "State": list(run_lines(io, repository)),
        }
    )
    for title, lines in sections.items():
        io.say(f"{title}\n" + "\n".join(f"  {printable(line)}" for line in lines))
    return int(any(line.startswith("!") for lines in sections.values() for line in lines))


command = Command(
    "doctor",
    callback=run,
    help="Show what is installed, which policy applies and what would run. Exit code 1: a line marked with ! needs"
    " attention.",
    params=[
        flag(
            "--probe",
            "Instead: start the hook of each coding agent as the agent would, also broken, slow or moved away,"
            " and show where the tool would not be blocked.",
        ),
        flag(
            "--timing",
            "Instead: review what is staged, else the commit at HEAD, and show where the time goes: for a report"
            " of a slow commit. Records nothing.",
        ),
        flag(
            "--verbose -v", "Show also what the format of each agent's hook is known from."
        ),
    ],
)
