"""`cli-guard config`: check a policy, show the one in force, write a first one."""

import json
from pathlib import Path

import click

from cli_guard.cli.app import FORMAT, Command, Group
from cli_guard.cli.io import Io
from cli_guard.errors import ConfigError, NotARepository
from cli_guard.git.repository import Repository
from cli_guard.runtime import user_file
from cli_guard.secrets.printable import json_value, printable
from cli_guard.secrets.redact import redact


@click.pass_obj
def check(io: Io, /, file: str | None) -> int:
    """Check one file, or the policy of the work tree and the user's own."""
    from cli_guard.policy.config import FILE, PYPROJECT, read_config, read_user_config
    from cli_guard.review.policy import read_policy_file, work_tree_policy

    own = user_file(io.env)
    if file and not (own and io.path(file).resolve() == own.resolve()):
        raw = read_policy_file(io.path(file).resolve(), file)
        if raw is None:
            raise ConfigError(f"{file}: there is no such file")
        name = PYPROJECT if Path(file).name == PYPROJECT else FILE
        found = read_config(lambda each: raw if each == name else None, "" if name == file else f" ({file})")
        io.say(printable(f"cli-guard: {file}: {'valid' if found else 'has no table [tool.cli-guard]'}"))
        return 0
    if not file:
        try:
            repository = Repository.discover(io.cwd, io.env)
            root = io.cwd if repository.bare else repository.root
        except NotARepository:
            root = io.cwd
        source = work_tree_policy(root)[1]
        io.say(f"cli-guard: {source}: {'valid' if ' ' in source and '.' in source else 'in force here'}")
    if read_user_config(io.env) or file:
        io.say(printable(f"cli-guard: {own}: valid"))
    return 0


@click.pass_obj
def show(io: Io, /, format: str) -> int:
    """Show the settings that the hooks of a commit use here."""
    from cli_guard.policy.effective import settings_in_force, toml_key, toml_value
    from cli_guard.review.policy import policy_for
    from cli_guard.review.request import Patch, Staged

    try:
        policy, _ = policy_for(Staged(), Repository.discover(io.cwd, io.env), io.env)
    except NotARepository:
        policy, _ = policy_for(Patch(b"", ""), None, io.env)
    found = list(settings_in_force(policy))
    if format == "json":
        rows = [{"key": toml_key(*key), "value": value, "source": source} for key, value, source in found]
        io.say(redact(json.dumps(json_value(rows), indent=2)))
        return 0
    lines, table = [f"# in force: {', '.join(policy.sources)}"], tuple[str, ...]()
    for place, value, source in found:
        if place[:-1] != table:
            table = place[:-1]
            lines += ["", f"[{toml_key(*table)}]"]
        lines.append(f"{toml_key(place[-1])} = {toml_value(value)}  # {source}")
    io.say(printable(redact("\n".join(lines)), keep_newlines=True))
    return 0


@click.pass_obj
def init(io: Io, /, migrate: bool) -> int:
    """Write a commented file for the languages of the repository, with the settings of other tools."""
    from cli_guard.review.first_policy import write_policy

    said = write_policy(Repository.discover(io.cwd, io.env), migrate=migrate)
    io.say(printable(redact("\n".join(said)), keep_newlines=True))
    return 0


command = Group("config", help="Check a policy, show the one in force, or write a first one.")
command.add_command(
    Command(
        "check",
        callback=check,
        help="Check FILE (a cli-guard.toml, a pyproject.toml or your own file); without it the policy of the work"
        " tree, staged or not, and your own file. A mistake is said as a hook says it, with exit code 2.",
        params=[click.Argument(["file"], required=False)],
    )
)
command.add_command(
    Command(
        "show",
        callback=show,
        help="Show the policy in force, that of HEAD and your own file, each value with its source.",
        params=[FORMAT],
    )
)
command.add_command(
    Command(
        "init",
        callback=init,
        help="Write a commented cli-guard.toml for the languages of the repository, never over an existing policy.",
        params=[
            click.Option(
                ["--migrate"],
                is_flag=True,
                help="Take over what gitleaks, detect-secrets and pre-commit are told to ignore or allow.",
            )
        ],
    )
)
