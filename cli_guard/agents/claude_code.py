"""Claude Code: answer its PreToolUse requests, and maintain our entry in its settings.

Source: https://code.claude.com/docs/en/hooks. Exit code 0 comes with a decision on standard output, 2 blocks the tool,
and any other code lets it run. `onFailure` blocks the tool when the hook cannot even start; versions before 2.1.295 do
not know it.
"""

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from cli_guard.agents.git_requests import find_reviewed_change
from cli_guard.agents.payload import parse, text_in
from cli_guard.commands import Context, Kind, Verdict, judge
from cli_guard.commands.model import STRICTNESS
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import Repository
from cli_guard.model import Decision
from cli_guard.review.command_context import command_context
from cli_guard.review.render.command import as_json, sentence
from cli_guard.review.request import Staged
from cli_guard.runtime import Invocation

EVENT = "PreToolUse"
WRITERS = {
    "Write": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
# Agents write files all day: only files that guard, run or grant access by themselves are judged.
UNREMARKABLE = frozenset((Kind.READ, Kind.WRITE, Kind.CREDENTIAL))
WORDS = {Decision.ALLOW: "allow", Decision.REVIEW: "ask", Decision.DENY: "deny"}
NOBODY_IS_ASKED = ("bypassPermissions", "dontAsk")
LONGEST_REASON = 4_000

SETTINGS = ".claude/settings.json"
CALL = "cli-guard hook claude-code"
MATCHER = "Bash|Write|Edit|MultiEdit|NotebookEdit"
ENTRY = {"matcher": MATCHER, "hooks": [{"type": "command", "command": CALL, "onFailure": "block"}]}


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision about one use of a tool, and the reason shown to Claude or the user."""

    decision: Decision
    reason: str


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one PreToolUse request: JSON in, JSON out, "" for no decision.

    Raises ValueError for a request of another shape, CliGuardError, OSError.
    """
    request = parse(raw)
    if not isinstance(request, dict):
        raise ValueError("the request is not an object")
    answer = judge_request(request, invocation)
    if answer is None:
        return ""
    answer = deny_if_nobody_is_asked(answer, request.get("permission_mode"))
    output = {
        "hookEventName": EVENT,
        "permissionDecision": WORDS[answer.decision],
        "permissionDecisionReason": answer.reason[:LONGEST_REASON],
    }
    return as_json({"hookSpecificOutput": output})


def judge_request(request: Mapping[str, Any], invocation: Invocation) -> Answer | None:
    if text_in(request, "hook_event_name") != EVENT:
        raise ValueError(f"the event is not {EVENT}")
    tool, given = text_in(request, "tool_name"), request.get("tool_input")
    if tool != "Bash" and tool not in WRITERS:
        return None
    if not isinstance(given, dict):
        raise ValueError("tool_input is not an object")
    if "cwd" in request:
        invocation = replace(invocation, cwd=invocation.cwd / text_in(request, "cwd"))
    if tool == "Bash":
        return judge_command(text_in(given, "command"), invocation)
    return judge_written_file(text_in(given, WRITERS[tool]), invocation)


def deny_if_nobody_is_asked(answer: Answer, mode: object) -> Answer:
    """Deny what needs a person in a permission mode without a prompt."""
    if answer.decision is Decision.REVIEW and mode in NOBODY_IS_ASKED:
        return Answer(Decision.DENY, f"{answer.reason}\nA person must decide, and {mode} mode asks nobody.")
    return answer


def judge_command(command: str, invocation: Invocation) -> Answer:
    """Judge a shell command; one that records or sends a change gets the review of that change."""
    context = command_context(invocation.cwd, invocation.env)
    verdict = judge(command, context)
    if verdict.verdict is not Decision.DENY:
        reviewed = review_recorded_change(command, verdict, context, invocation)
        if reviewed is not None:
            return reviewed
    return Answer(verdict.verdict, sentence(verdict))


def review_recorded_change(
    command: str, verdict: Verdict, context: Context, invocation: Invocation
) -> Answer | None:
    """Review what a plain `git commit` or `git push` would record or send; None for any other command."""
    request = find_reviewed_change(command, context, invocation)
    if request is None:
        return None
    from cli_guard.review.render.text import render
    from cli_guard.review.run import review_request

    review = review_request(request, invocation)
    asked = [effect.kind for effect in verdict.effects if effect.decision is Decision.REVIEW]
    if review.decision is not Decision.ALLOW:
        return Answer(review.decision, render(review).strip())
    if isinstance(request, Staged) and asked == [Kind.GIT_WRITE]:
        return Answer(Decision.ALLOW, render(review).strip())
    return Answer(verdict.verdict, sentence(verdict))


def judge_written_file(name: str, invocation: Invocation) -> Answer | None:
    """Judge a write to a file, by the name given and by the one that links lead to."""
    if not name:
        raise ValueError("the path is empty")
    path = invocation.cwd / name
    # Patterns are about commands; here the engine only classifies a path.
    context = replace(command_context(invocation.cwd, invocation.env), patterns=())
    names = dict.fromkeys((str(path), os.path.realpath(path)))
    verdicts = [judge(f"tee -- {shlex.quote(each)}", context) for each in names]
    strict = max(verdicts, key=lambda verdict: STRICTNESS.index(verdict.verdict))
    kinds = {effect.kind for verdict in verdicts for effect in verdict.effects}
    if kinds <= UNREMARKABLE and not any(".git" in PurePath(each).parts for each in names):
        return None
    return Answer(strict.verdict, sentence(strict))


def install(repository: Repository) -> str:
    """Add our entry; return what was done. Raises UsageError for settings of another shape."""
    path = find_settings(repository)
    settings = read_settings(path) if path.exists() else {}
    if ENTRY in find_entries(settings):
        return f"{SETTINGS}: is there already"
    known = any(is_our_call(hook) for entry in find_entries(settings) for hook in find_hooks(entry))
    remove_entries(settings)
    settings.setdefault("hooks", {}).setdefault(EVENT, []).append(ENTRY)
    write_settings(path, settings)
    return f"{SETTINGS}: {'brought up to date' if known else 'installed'}"


def uninstall(repository: Repository) -> str | None:
    """Remove our entry; return what was done, None if there was none."""
    path = find_settings(repository)
    if not path.exists():
        return None
    settings = read_settings(path)
    if not remove_entries(settings):
        return None
    write_settings(path, settings)
    return f"{SETTINGS}: removed"


def is_installed(repository: Repository) -> bool | None:
    """Return whether the settings call cli-guard; None if there are no readable settings."""
    try:
        settings = read_settings(find_settings(repository))
    except CliGuardError:
        return None
    return any(is_our_call(hook) for entry in find_entries(settings) for hook in find_hooks(entry))


def find_settings(repository: Repository) -> Path:
    """Find the settings file. Raises UsageError if a link leads out of the work tree."""
    if repository.bare:
        raise UsageError("this repository is bare: it has no work tree for the settings of an agent")
    path = (repository.root / SETTINGS).resolve()
    if not path.is_relative_to(repository.root.resolve()):
        raise UsageError(
            f"{SETTINGS} is a link that leads out of the repository, to {path}: nothing was changed"
        )
    return path


def read_settings(path: Path) -> dict[str, Any]:
    """Read settings that an entry can be added to. Raises UsageError."""
    try:
        settings = parse(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{SETTINGS} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{SETTINGS} is {error}: mend it, or write the hook there by hand") from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not isinstance(hooks.get(EVENT, []), list):
        raise UsageError(
            f"{SETTINGS} has another form than Claude Code's settings: write the hook there by hand"
        )
    return dict(settings)


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    """Write the settings atomically. Raises CliGuardError."""
    from cli_guard.state.files import write_atomically

    try:
        mode = path.stat().st_mode if path.exists() else 0o644
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(settings, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        path.chmod(mode & 0o777)
    except (OSError, ValueError) as error:
        raise CliGuardError(f"{SETTINGS} cannot be written: {getattr(error, 'strerror', error)}") from error


def remove_entries(settings: dict[str, Any]) -> bool:
    """Remove every call of ours and what is empty without it; return whether there was one."""
    before = json.dumps(settings)
    for entry in find_entries(settings):
        if any(is_our_call(hook) for hook in find_hooks(entry)):
            entry["hooks"] = [hook for hook in entry["hooks"] if not is_our_call(hook)]
            if not entry["hooks"]:
                settings["hooks"][EVENT].remove(entry)
    if json.dumps(settings) == before:
        return False
    if not settings["hooks"][EVENT]:
        del settings["hooks"][EVENT]
    if not settings["hooks"]:
        del settings["hooks"]
    return True


def find_entries(settings: dict[str, Any]) -> list[Any]:
    return list(settings.get("hooks", {}).get(EVENT, []))


def find_hooks(entry: object) -> Iterator[object]:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    yield from hooks if isinstance(hooks, list) else ()


def is_our_call(hook: object) -> bool:
    """Return whether a hook calls cli-guard, with any other words around the call."""
    return isinstance(hook, dict) and CALL in str(hook.get("command"))


# What `doctor --probe` needs: see probe.py.
FAILURE_SETTING = '"onFailure": "block" (Claude Code 2.1.295 or later)'
SAMPLES = {Decision.ALLOW: "ls", Decision.DENY: "rm -rf /"}


def configured_command(repository: Repository, env: Mapping[str, str]) -> str | None:
    """Return the command line that the settings give to our hook, None if they do not call it."""
    hook = find_our_hook(repository)
    return str(hook["command"]) if hook else None


def blocks_failures(repository: Repository, env: Mapping[str, str]) -> bool:
    """Return whether a hook that cannot start, is late or fails blocks the tool."""
    hook = find_our_hook(repository)
    return hook is not None and hook.get("onFailure") == "block"


def configured_timeout_s(repository: Repository, env: Mapping[str, str]) -> float | None:
    """Return the time-out that the settings give to our hook, None for the default of Claude Code."""
    timeout = (find_our_hook(repository) or {}).get("timeout")
    return timeout if isinstance(timeout, int | float) else None


def find_our_hook(repository: Repository) -> dict[str, Any] | None:
    """Find our entry in the settings, None if there is none, or no readable settings."""
    try:
        settings = read_settings(find_settings(repository))
    except CliGuardError:
        return None
    hooks = (hook for entry in find_entries(settings) for hook in find_hooks(entry))
    return next((hook for hook in hooks if isinstance(hook, dict) and is_our_call(hook)), None)


def sample(decision: Decision) -> bytes:
    """Return a request that must be answered with this decision, allow or deny."""
    data = {"hook_event_name": EVENT, "tool_name": "Bash", "tool_input": {"command": SAMPLES[decision]}}
    return json.dumps(data).encode()


def blocks(exit_code: int | None, stdout: bytes) -> bool:
    """Return whether Claude Code blocks the tool after this end of a hook; None is one that was late."""
    if exit_code != 0:
        return exit_code == 2
    try:
        answer = json.loads(stdout)
        return bool(answer["hookSpecificOutput"]["permissionDecision"] == "deny")
    except (ValueError, LookupError, TypeError):
        return False
