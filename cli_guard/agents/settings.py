"""Keep our entry in an agent's settings in JSON, and start it once before saying that it is there."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from cli_guard.agents.payload import parse
from cli_guard.agents.registry import BLOCKED
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.lazy import dataclass, frozen
from cli_guard.repository.protocol import Repository
from cli_guard.rules import data
from cli_guard.runtime import find_on_path, own_program

# An agent lets a tool run if its hook takes longer; see `cli/hook.py` for what we answer before that.
TIMEOUT_SECONDS = 60
HARMLESS = "true"
HARMFUL = "rm -rf /"
IN_REPOSITORY = ("project", "local")
# In the settings that a repository shares: our program by its name; where there is none, one line.
SHARED = "if command -v cli-guard >/dev/null; then cli-guard hook {name} || exit 2; else echo {notice}; fi"
# Before that, where PATH has another one or none: our program by its path.
BY_PATH = "if [ -e {program} ]; then {program} hook {name} || exit 2; el"
MISSING = (
    "cli-guard is not installed here and judges nothing: pip install /path/to/cli-guard (a clone of it), then"
    " cli-guard install --agent {name} --where user"
)
# The command that starts our hook, and what the agent's settings say about it.
Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Protocol:
    """How one agent calls its hook.

    `name` is that on our command line. `places` are the files with its settings by the word for `--where`, those of the
    user below `~`. `home` is the variable that moves the first folder of those, with that folder. `request` is a
    request for a shell command, with `<command>` and `<folder>` to fill in; `denial` is where an output in JSON has
    "deny". `passing` are the exit codes with which the tool runs, empty if they are all but BLOCKED. `message` is the
    key of an output in JSON with words for the user, "" for none.
    """

    name: str
    places: Mapping[str, str]
    request: Mapping[str, object]
    denial: Sequence[str] = ()
    home: Sequence[str] = ("", "")
    passing: Sequence[int] = ()
    message: str = ""

    def write_request(self, command: str, folder: str) -> str:
        values = {"<command>": command, "<folder>": folder}
        return json.dumps(fill_in(self.request, values))

    def find(self, repository: Repository, where: str) -> Path:
        """Find the settings file. Raises UsageError if a link leads out of the work tree or the home folder."""
        if where not in self.places:
            raise UsageError(
                f"{self.name} has no {where} settings: --where {' or '.join(self.places)}"
            )
        name = self.places[where]
        env = repository.git.env
        if where in IN_REPOSITORY:
            if repository.bare:
                raise UsageError(
                    "this repository is bare: it has no work tree for the settings of an agent"
                )
            around = repository.root
            what = "the repository"
        else:
            around = Path(env.get("HOME", ""))
            what = "the home folder"
            variable, folder = self.home
            if env.get(variable):
                around = Path(env[variable])
                name = name.removeprefix(f"{folder}/")
            if not around.is_absolute():
                raise UsageError("there is no home folder: set HOME to an absolute path")
        path = (around / name.removeprefix("~/")).resolve()
        if not path.is_relative_to(around.resolve()):
            raise UsageError(
                f"{name} is a link that leads out of {what}, to {path}: nothing was changed"
            )
        return path

    def all_found(self, repository: Repository) -> Iterator[tuple[Path, str]]:
        """Yield the settings files that exist, with their names."""
        for where, name in self.places.items():
            with suppress(UsageError):
                if (path := self.find(repository, where)).exists():
                    yield path, name

    def to_clear(
        self, repository: Repository, where: str | None
    ) -> Iterator[tuple[Path, str]]:
        """Yield the settings files that exist at a place, or in the repository. Raises UsageError."""
        for each in (
            [where] if where else [each for each in self.places if each in IN_REPOSITORY]
        ):
            path = self.find(repository, each)
            if path.exists():
                yield path, self.places[each]

    def command(self, where: str, path: str) -> str:
        """Return the shell command for the hook: our program by its absolute path. Raises UsageError.

        Every failure to start it ends with 2, which blocks the tool. What a repository shares also reaches machines
        without the program: there the agent's own rules decide. It names no folder of this machine if `path`, a value
        of PATH, finds our program by its name.
        """
        program = own_program()
        if not program.exists():
            raise UsageError(
                f"there is no {program}: install cli-guard into the environment that runs it"
            )
        quoted = shlex.quote(str(program))
        if where != "project":
            return f"{quoted} hook {self.name} || exit 2"
        words = MISSING.format(name=self.name)
        notice = f"{shlex.quote(words)} >&2"
        if self.message:
            notice = shlex.quote(json.dumps({self.message: words}))
        is_named = find_on_path(path) == program.resolve()
        form = SHARED if is_named else BY_PATH + SHARED
        return form.format(program=quoted, name=self.name, notice=notice)

    def is_ours(self, command: object) -> bool:
        """Return whether a hook's command calls cli-guard, with any other words around the call."""
        return (
            re.search(rf"cli-guard['\"]?\s+hook\s+{self.name}(?![\w-])", str(command))
            is not None
        )

    def is_denied(self, code: int, out: str, *words: str) -> bool:
        """Return whether the agent takes the exit code and the output of its hook for a denial, or one of `words`."""
        if code or not out.strip():
            return (
                code > 0 and code not in self.passing if self.passing else code == BLOCKED
            )
        try:
            return reduce(getitem, self.denial, json.loads(out)) in ("deny", *words)
        except (ValueError, KeyError, TypeError):
            return False

    def check(self, command: str, repository: Repository) -> None:
        """Start the hook as the agent would. Raises UsageError if one of its answers is wrong.

        There is a PATH only for a command that does not name our program by its path.
        """
        env = dict(repository.git.env)
        if shlex.quote(str(own_program())) in command:
            env.pop("PATH", None)
        folder = str(repository.root)
        for asked, wanted in ((HARMLESS, False), (HARMFUL, True)):
            given = self.write_request(asked, folder)
            try:
                done = subprocess.run(
                    ("/bin/sh", "-c", command),
                    cwd=folder,
                    env=env,
                    input=given,
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT_SECONDS,
                )
            except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
                raise UsageError(
                    f"{command} cannot be started: {error}: nothing was changed"
                ) from error
            if self.is_denied(done.returncode, done.stdout) is not wanted:
                said = (
                    " ".join((done.stderr or done.stdout).split())[:300]
                    or f"exit code {done.returncode}"
                )
                answer = "does not deny" if wanted else "denies"
                raise UsageError(
                    f"{command} {answer} `{asked}` ({said}): nothing was changed"
                )


@frozen
class JsonHooks:
    """The hooks of an agent in a JSON file: a list for each event below `hooks`; ours stands in those of `events`.

    `entry` is our entry, with `<command>` to fill in. `base` is what a new file begins with; `own` says that the file
    is ours alone. `advice` is what a person has to do besides. `failure_setting` is the key and the value in our entry
    that block the tool whatever becomes of the hook, and its words for a person. `timeout_unit_s` is the unit of
    time-outs.
    """

    protocol: Protocol
    events: Sequence[str]
    entry: Mapping[str, object]
    base: Mapping[str, object] = field(default_factory=dict)
    own: bool = False
    advice: Mapping[str, str] = field(default_factory=dict)
    failure_setting: Sequence[str] = ("", "", "")
    timeout_unit_s: float = 1

    def install(self, repository: Repository, where: str = "project") -> str:
        """Add our entry; return what was done. Raises UsageError for settings of another shape, CliGuardError."""
        from cli_guard.agents.restoring import keep_original
        from cli_guard.state.files import explain_write_errors

        path = self.protocol.find(repository, where)
        name = self.protocol.places.get(where, "")
        command = self.protocol.command(where, repository.git.env.get("PATH", ""))
        entry = fill_in(self.entry, {"<command>": command})
        settings: dict[str, Any] = (
            self.read(path, name) if path.exists() else dict(self.base)
        )
        self.protocol.check(command, repository)
        advice = f"; {self.advice[where]}" if where in self.advice else ""
        ours = [each for each in self.entries(settings) if self.calls_us(each)]
        listed = [settings.get("hooks", {}).get(event, ()) for event in self.events]
        if len(ours) == len(listed) and all(entry in entries for entries in listed):
            return f"{name}: is there already{advice}"
        self.remove(settings)
        for key, value in self.base.items():
            settings.setdefault(key, value)
        for event in self.events:
            settings.setdefault("hooks", {}).setdefault(event, []).append(entry)
        text = text_of(name, settings)
        with explain_write_errors(name):
            keep_original(repository, path, text)
        write_text(path, name, text)
        return f"{name}: {'brought up to date' if ours else 'installed'}{advice}"

    def uninstall(self, repository: Repository, where: str | None = None) -> str | None:
        """Remove our entries, those of the repository if `where` is None; return what was done, None for nothing."""
        from cli_guard.agents.restoring import restore_original
        from cli_guard.state.files import explain_write_errors

        done = []
        for path, name in self.protocol.to_clear(repository, where):
            settings = self.read(path, name)
            if not self.remove(settings):
                continue
            with explain_write_errors(name):
                if not restore_original(repository, path):
                    self.clear(repository, path, name, settings)
            done.append(f"{name}: removed")
        return ", ".join(done) or None

    def clear(
        self, repository: Repository, path: Path, name: str, settings: dict[str, Any]
    ) -> None:
        """Write settings without our entries; delete a file of which nothing but our own is left."""
        from cli_guard.agents.restoring import read_original

        original = read_original(repository, path)
        is_bare = settings in ({}, dict(self.base))
        if is_bare and original and original.before is None:
            original.remove(path)
        elif self.own and settings == dict(self.base):
            path.unlink()
        else:
            write_text(path, name, text_of(name, settings))

    def is_installed(self, repository: Repository) -> bool | None:
        """Return whether any settings of the agent call cli-guard; None if there are no readable ones."""
        found = list(self.all_entries(repository))
        return (
            any(self.calls_us(entry) for entries in found for entry in entries)
            if found
            else None
        )

    def find_call(self, repository: Repository) -> Call | None:
        """Find our call in the readable settings, None if there is none."""
        calls = (
            call
            for entries in self.all_entries(repository)
            for entry in entries
            for call in self.calls_in(entry)
        )
        return next(calls, None)

    def all_entries(self, repository: Repository) -> Iterator[list[Any]]:
        """Yield the entries of each settings file that can be read."""
        for path, name in self.protocol.all_found(repository):
            with suppress(CliGuardError):
                yield self.entries(self.read(path, name))

    def read(self, path: Path, name: str) -> dict[str, Any]:
        """Read settings that an entry can be added to. Raises UsageError."""
        try:
            settings = parse(path.read_bytes())
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise UsageError(
                f"{name} is {error}: fix it, or write the hook there by hand"
            ) from error
        hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
        lists = (
            [hooks.get(event, []) for event in self.events]
            if isinstance(hooks, dict)
            else [None]
        )
        if not all(isinstance(each, list) for each in lists):
            raise UsageError(
                f"{name} has another form than expected: write the hook there by hand"
            )
        return dict(settings)

    def entries(self, settings: Mapping[str, Any]) -> list[Any]:
        hooks = settings.get("hooks", {})
        return [entry for event in self.events for entry in hooks.get(event, [])]

    def calls_us(self, entry: object) -> bool:
        """Return whether an entry, or a hook in it, calls cli-guard."""
        return any(self.calls_in(entry))

    def calls_in(self, entry: object) -> Iterator[Call]:
        """Yield our calls in an entry, each with the hook that it is in."""
        inner = entry.get("hooks") if isinstance(entry, dict) else None
        for hook in (entry, *(inner if isinstance(inner, list) else ())):
            for value in hook.values() if isinstance(hook, dict) else ():
                if isinstance(value, str) and self.protocol.is_ours(value):
                    yield value, hook

    def remove(self, settings: dict[str, Any]) -> bool:
        """Remove every call of ours and what is empty without it; return whether there was one."""
        found = any(self.calls_us(each) for each in self.entries(settings))
        hooks = settings.get("hooks", {})
        for event in self.events if found else ():
            hooks[event] = list(self.without_calls(hooks.get(event, [])))
            if not hooks[event]:
                del hooks[event]
        if found and not hooks:
            del settings["hooks"]
        return found

    def without_calls(self, entries: list[Any]) -> Iterator[Any]:
        """Yield entries without our calls, and without those that were nothing else."""
        for entry in entries:
            if not self.calls_us(entry):
                yield entry
            elif isinstance(entry.get("hooks"), list):
                others = [hook for hook in entry["hooks"] if not self.calls_us(hook)]
                if others:
                    yield {**entry, "hooks": others}


def read_json_agent(name: str) -> JsonHooks:
    """Return an agent of `rules/agent_hooks.toml`."""
    row = dict(data.read("agent_hooks.toml")[name])
    return JsonHooks(Protocol(name, **row.pop("protocol")), **row)


def fill_in(template: Any, values: Mapping[str, str]) -> Any:
    """Return a copy of plain data with other texts in place of some."""
    if isinstance(template, Mapping):
        return {key: fill_in(each, values) for key, each in template.items()}
    if isinstance(template, list):
        return [fill_in(each, values) for each in template]
    return values.get(template, template)


def text_of(name: str, settings: Mapping[str, Any]) -> str:
    """Return settings as JSON. Raises CliGuardError."""
    try:
        return json.dumps(settings, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise CliGuardError(f"{name} cannot be written: {error}") from error


def write_text(path: Path, name: str, text: str) -> None:
    """Write a file of an agent atomically, with the mode that it had. Raises CliGuardError."""
    from cli_guard.state.files import write_atomically

    try:
        mode = path.stat().st_mode if path.exists() else 0o644
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        path.chmod(mode & 0o777)
    except (OSError, ValueError) as error:
        raise CliGuardError(
            f"{name} cannot be written: {getattr(error, 'strerror', error)}"
        ) from error
