"""Start the hook of a coding agent as the agent would, also broken, and find where the agent would let a tool run.

The command line is the one in the agent's settings. Each state replaces its program, its environment or its input;
nothing that is installed is changed. What a repository's settings name is not simply run: the command must be a plain
call of `cli-guard hook`, and its program must not be a file of the work tree, but for the one that runs now.

What `failure_setting` and `timeout_unit_s` of an agent mean is said in `settings.py`.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cli_guard.agents.registry import Agent
from cli_guard.agents.settings import HARMFUL, HARMLESS
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import find_on_path, own_program
from cli_guard.server.client import find_hook_limit

SHELL = "/bin/sh"
# A path of letters, quotes and variables; nothing that runs something else, no `=` of an assignment.
WORD = r"""(?:[\w@%+:,./~-]|\$\w+|\$\{\w+\}|"(?:[^"$`\\]|\$\w+|\$\{\w+\})*"|'[^']*')+"""
CALL = re.compile(rf" *(?P<program>{WORD}) +hook +[\w-]+ *(?:\|\| *exit +2)? *")
# What `settings.SHARED` makes, with or without `settings.BY_PATH`.
SHARED_CALL = re.compile(
    rf"(?:if \[ -e (?P<program>{WORD}) \]; then (?P<call>(?P=program) hook [\w-]+ \|\| exit 2); el)?"
    r"if command -v cli-guard >/dev/null; then (?P<named>cli-guard hook [\w-]+ \|\| exit 2);"
    rf" else echo {WORD}(?: >&2)?; fi"
)
PROGRAM = "cli-guard"
# Agents give hooks the folder of the project under their own names.
FOLDERS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")
# The time-out of an agent, scaled down: the hook must end by itself, long before it is stopped.
LIMIT_SECONDS = "0.2"
# Nothing is judged in such a time.
NO_SECONDS = "0.000001"
STOP_SECONDS = 50.0
AS_IT_IS = "the hook as it is"
# Ends by a signal, as for want of memory.
KILLED = "#!/bin/sh\nkill -KILL $$\n"


def lacks_program(command: str, path: str) -> bool:
    """Return whether a hook of shared settings judges nothing here: our program is not at its path, nor on PATH."""
    shared = SHARED_CALL.fullmatch(command)
    if shared is None or find_on_path(path):
        return False
    at_path = shlex.split(shared["program"] or "")
    return not any(Path(each).exists() for each in at_path)


@frozen
class ProbeState:
    """One start of the hook: what is wrong in it, the command, what it is given, the answer that is wanted.

    `ends` says whether its standard input ends.
    """

    name: str
    command: str
    env: Mapping[str, str]
    stdin: bytes
    wanted: Decision = Decision.DENY
    ends: bool = True


@frozen
class ProbeEnding:
    """How a start ended: the exit code, None if it had to be stopped, and its standard output."""

    code: int | None
    stdout: bytes

    def __str__(self) -> str:
        return "it did not end" if self.code is None else f"exit code {self.code}"


def probe_agent(
    agent: Agent, repository: Repository, env: Mapping[str, str]
) -> Iterator[str]:
    """Yield what to show: one line if the agent blocks in every state, one for each state in which it does not.

    A line that needs attention begins with "!". Nothing for an agent that does not call us. Raises CliGuardError.
    """
    module = agent.load()
    try:
        found = module.find_call(repository)
    except UsageError as error:
        yield f"! {agent.title}: {error}"
        return
    if found is None:
        return
    command, entry = found
    around = {**env, **dict.fromkeys(FOLDERS, str(repository.root))}
    shared = SHARED_CALL.fullmatch(command)
    if shared:
        program = shared["program"]
        is_here = program and resolve(program, repository.root, around)
        command = shared["call"] if is_here else shared["named"]
        yield (
            f"{agent.title}: this entry is shared; where cli-guard is missing, the agent's own rules decide, and"
            " `--where user` would block"
        )
    call = CALL.fullmatch(command)
    problem = find_obstacle(call, repository.root, around)
    if call is None or problem:
        yield f"! {agent.title}: not started: {problem}: {command}"
        return
    with tempfile.TemporaryDirectory() as scratch:
        states = list_states(call, module, repository.root, around, Path(scratch))
        endings = run_all(states, repository.root, Path(scratch))
    key, value, words = getattr(module, "failure_setting", ("", None, ""))
    set_here = bool(key) and entry.get(key) == value
    lines = list(
        describe(agent, module, list(zip(states, endings, strict=True)), words, set_here)
    )
    limit = find_hook_limit(env)
    wanted = find_timeout(module, entry)
    if wanted is not None and wanted < 2 * limit and not set_here:
        late = (
            f"! {agent.title} waits {wanted:g} s for the hook, which may take {limit:g} s"
        )
        lines = [
            *(line for line in lines if line.startswith("!")),
            f"{late}: remove its time-out, or make it longer",
        ]
    yield from lines


def find_timeout(module: Any, entry: Mapping[str, object]) -> float | None:
    """Return the seconds that the settings let the agent wait, None if they say nothing."""
    found = next((entry[key] for key in ("timeout", "timeoutSec") if key in entry), None)
    unit = getattr(module, "timeout_unit_s", 1)
    return found * float(unit) if isinstance(found, int | float) else None


def find_obstacle(call: re.Match[str] | None, root: Path, env: Mapping[str, str]) -> str:
    """Return why a command must not be started, "" if it may be."""
    if call is None:
        return f"the command has another form than `{PROGRAM} hook AGENT`"
    found = resolve(call["program"], root, env)
    if Path(found or call["program"].strip("\"'")).name != PROGRAM:
        return f"its program is not {PROGRAM}"
    if found:
        # A link of the work tree may lead to any program, and any link into the work tree.
        file = Path(os.path.realpath(found))
        top = os.path.realpath(root)
        place = Path(os.path.realpath(Path(found).parent))
        own = os.path.realpath(own_program())
        if (file.is_relative_to(top) or place.is_relative_to(top)) and str(file) != own:
            return "its program is a file of the work tree"
    return ""


def resolve(word: str, root: Path, env: Mapping[str, str]) -> str:
    """Return the absolute path of the program that the shell would start, "" for none."""
    done = subprocess.run(
        (SHELL, "-c", f"command -v -- {word}"),
        cwd=root,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    found = os.fsdecode(done.stdout.rstrip(b"\n"))
    return os.path.join(root, found) if found else ""  # noqa: PTH118 - it may be absolute, or not


def list_states(
    call: re.Match[str],
    module: Any,
    root: Path,
    env: Mapping[str, str],
    scratch: Path,
) -> tuple[ProbeState, ...]:
    """Prepare the states, with what they need in a scratch folder."""
    denied, allowed = (
        module.protocol.write_request(each, str(root)).encode()
        for each in (HARMFUL, HARMLESS)
    )
    command = call.string
    locked = scratch / "locked"
    killed = scratch / "killed"
    empty = scratch / "empty"
    locked.write_text(KILLED)
    locked.chmod(0o600)
    killed.write_text(KILLED)
    killed.chmod(0o700)
    empty.mkdir()

    def replace(path: Path) -> str:
        before, after = call.span("program")
        return command[:before] + shlex.quote(str(path)) + command[after:]

    limited = {**env, "CLI_GUARD_HOOK_SECONDS": LIMIT_SECONDS}
    hurried = {**env, "CLI_GUARD_HOOK_SECONDS": NO_SECONDS}
    # No row of `dialects.py` knows it: as agents that read the settings of another one may send it.
    other = json.dumps({"call": {"name": "run"}, "input": {"command": HARMFUL}}).encode()
    return (
        ProbeState(AS_IT_IS, command, env, denied),
        ProbeState(AS_IT_IS, command, env, allowed, Decision.ALLOW),
        ProbeState("a hook that is not executable", replace(locked), env, denied),
        ProbeState("a hook that was moved away", replace(scratch / "gone"), env, denied),
        ProbeState("an empty PATH", command, {**env, "PATH": str(empty)}, denied),
        ProbeState("an input that does not end", command, limited, denied, ends=False),
        ProbeState("a slow judge", command, hurried, denied, Decision.REVIEW),
        ProbeState("another dialect", command, env, other),
        ProbeState("a hook that was killed", replace(killed), env, denied),
        ProbeState("bad JSON", command, env, b"{"),
    )


def run_all(states: tuple[ProbeState, ...], root: Path, scratch: Path) -> list[ProbeEnding]:
    """Start all of them at once, and wait for each. Raises CliGuardError."""
    started: list[tuple[subprocess.Popen[bytes], Path]] = []
    held = []
    try:
        for number, state in enumerate(states):
            reading, writing = os.pipe()
            os.write(writing, state.stdin)
            if state.ends:
                os.close(writing)
            else:
                held.append(writing)
            path = scratch / f"{number}.out"
            with path.open("wb") as out, os.fdopen(reading, "rb") as stdin:
                process = subprocess.Popen(
                    (SHELL, "-c", state.command),
                    cwd=root,
                    env=state.env,
                    stdin=stdin,
                    stdout=out,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            started.append((process, path))
        until = time.monotonic() + STOP_SECONDS
        return [
            ProbeEnding(wait(process, until), path.read_bytes())
            for process, path in started
        ]
    except OSError as error:
        raise CliGuardError(f"the hook cannot be started: {error.strerror}") from error
    finally:
        for writing in held:
            os.close(writing)
        for process, _ in started:
            wait(process, 0.0)


def wait(process: "subprocess.Popen[bytes]", until: float) -> int | None:
    """Wait for the end until a time of `time.monotonic`, then stop all that was started, and return None."""
    try:
        return process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            process.kill() if not hasattr(os, "killpg") else os.killpg(
                process.pid, signal.SIGKILL
            )
        process.wait()
        return None


def describe(
    agent: Agent,
    module: Any,
    results: list[tuple[ProbeState, ProbeEnding]],
    setting: str,
    set_here: bool,
) -> Iterator[str]:
    """Yield the lines about an agent; `set_here`: its `setting` blocks whenever its hook fails."""
    by_setting = 0
    problems = []
    for state, ending in results:
        blocked = is_blocked(
            module, ending, *(["ask"] if state.wanted is Decision.REVIEW else [])
        )
        if state.wanted is Decision.ALLOW:
            if blocked or (set_here and ending.code != 0):
                problems.append(
                    f"! {agent.title} blocks even a harmless request ({ending}):"
                    f" run `cli-guard install --agent {agent.name}` again"
                )
        elif not blocked:
            # The setting is about failures: an answer that allows is none.
            if set_here and ending.code != 0:
                by_setting += 1
            else:
                problems.append(
                    f"! {agent.title} lets the tool run with {state.name} ({ending}):"
                    f" {advise(agent, state, ending, '' if set_here else setting)}"
                )
    if problems:
        yield from problems
        return
    blocking = sum(state.wanted is not Decision.ALLOW for state, _ in results)
    by = f" ({by_setting} of them by {setting})" if by_setting else ""
    yield f"{agent.title}: the tool is blocked in all {blocking} states{by}"


def is_blocked(module: Any, ending: ProbeEnding, *words: str) -> bool:
    """Return whether the agent blocks the tool after this end; every agent lets it run after a time-out.

    `words` are answers that count as well.
    """
    return ending.code is not None and module.protocol.is_denied(
        ending.code, os.fsdecode(ending.stdout), *words
    )


def advise(agent: Agent, state: ProbeState, ending: ProbeEnding, setting: str) -> str:
    """Return what closes an open state."""
    if ending.code == 0:
        return "the command does not hand on the answer of cli-guard"
    if state.name == AS_IT_IS:
        return f"run `cli-guard install --agent {agent.name}` again"
    ways = [f"set {setting}"] if setting else []
    if ending.code is not None:
        ways.append("write `|| exit 2` after the command")
    return ", or ".join(ways) or "update cli-guard"
