"""`cli-guard config`: check a policy, show the one in force, write a first one."""

import json
import os
from contextlib import suppress
from pathlib import Path

import click

from cli_guard.cli.app import FORMAT, Group, flag
from cli_guard.cli.io import Io
from cli_guard.errors import ConfigError, NotARepository, UsageError
from cli_guard.policy.config import FILE, PYPROJECT, read_config, read_user_config
from cli_guard.policy.effective import settings_in_force, toml_key, toml_value
from cli_guard.policy.recorded import (
    BUILT_IN,
    policy_at_head,
    read_policy_file,
    work_tree_policy,
)
from cli_guard.policy.writing import TakenOver, first_policy
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import user_file
from cli_guard.secrets.printable import json_value, printable
from cli_guard.secrets.redact import redact
from cli_guard.state.files import explain_write_errors, write_atomically

CHECK = (
    "Check a policy. FILE is a cli-guard.toml, a pyproject.toml or your own file; without it, the policy of the work"
    " tree, staged or not, and your own file are checked. A mistake is reported as by a hook, with exit code 2."
)
SHOW = "Show the policy in force. It is that of HEAD and your own file; each value has its source."
INIT = "Write a commented cli-guard.toml. It fits the languages here, and never replaces an existing policy."
MIGRATE = (
    "Take over what gitleaks, detect-secrets and pre-commit are told to ignore or allow."
)
file = click.Argument(["file"], required=False)
migrate = flag("--migrate", MIGRATE)
command = Group(
    "config", help="Check a policy, show the one in force, or write a first one."
)


def find_repository(io: Io) -> Repository | None:
    with suppress(NotARepository):
        return io.find_repository()
    return None


@command.command("check", help=CHECK, params=[file])
@click.pass_obj
def check(io: Io, /, file: str | None) -> int:

    own = user_file(io.env)
    path = io.path(file).resolve() if file else None
    if path and not (own and path == own.resolve()):
        raw = read_policy_file(path, str(file))
        if raw is None:
            raise ConfigError(f"{file}: there is no such file")
        name = PYPROJECT if path.name == PYPROJECT else FILE
        found = read_config({name: raw}.get, "" if name == file else f" ({file})")
        io.say(
            printable(
                f"cli-guard: {file}: {'valid' if found else 'no [tool.cli-guard] in it'}"
            )
        )
        return 0
    if not path:
        root = Path(
            here.root_name if (here := find_repository(io)) and not here.bare else io.cwd
        )
        io.say(f"cli-guard: {work_tree_policy(root)[1]}: valid")
    if read_user_config(io.env):
        io.say(printable(f"cli-guard: {own}: valid"))
    return 0


@command.command("show", help=SHOW, params=[FORMAT])
@click.pass_obj
def show(io: Io, /, format: str) -> int:

    policy, _ = policy_at_head(find_repository(io), io.env)
    found = settings_in_force(policy)
    rows = [
        {"key": toml_key(*key), "value": value, "source": source}
        for key, value, source in found
    ]
    lines = [f"# {', '.join(policy.sources)}"]
    table = tuple[str, ...]()
    for place, value, source in found:
        if place[:-1] != table:
            table = place[:-1]
            lines += ["", f"[{toml_key(*table)}]"]
        lines.append(f"{toml_key(place[-1])} = {toml_value(value)}  # {source}")
    text = json.dumps(json_value(rows), indent=2) if format == "json" else "\n".join(lines)
    io.say(printable(redact(text), keep_newlines=True))
    return 0


@command.command("init", help=INIT, params=[migrate])
@click.pass_obj
def init(io: Io, /, migrate: bool) -> int:

    repository = io.find_repository()
    path = repository.root / FILE
    source = work_tree_policy(repository.root)[1]
    if os.path.lexists(path) or source != BUILT_IN:
        raise UsageError(
            f"there is a policy already, {source}: see `cli-guard config show`"
        )
    taken = TakenOver.read(repository.root) if migrate else TakenOver()
    text = first_policy(repository, taken)
    with explain_write_errors(FILE):
        write_atomically(path, text)
    lines = [f"cli-guard: wrote {FILE}: look at it, then `git add {FILE}` and commit"]
    lines += taken.words() if migrate else []
    io.say("\n".join(printable(redact(line)) for line in lines))
    return 0
