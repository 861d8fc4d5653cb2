"""`cli-guard hook claude-code`: answers what Claude Code asks before it uses a tool (PreToolUse).

Source: https://code.claude.com/docs/en/hooks. Exit 0 with a decision on standard output; exit 2 blocks, and any
other code would let the tool run: whoever calls `respond` turns every failure into a 2.
"""

import datetime
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from cli_guard.agents.claude_git import recorded_by
from cli_guard.cli.io import Io
from cli_guard.cli.strict_json import parse, text_in
from cli_guard.commands import Context, Kind, Verdict, judge
from cli_guard.commands.model import STRICTNESS
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
# A file is written all day: what is answered is the file that guards, or that runs or lets in somebody by itself.
UNREMARKABLE = frozenset((Kind.READ, Kind.WRITE, Kind.CREDENTIAL))
WORDS = {Decision.ALLOW: "allow", Decision.REVIEW: "ask", Decision.DENY: "deny"}
NOBODY_IS_ASKED = ("bypassPermissions", "dontAsk")
LONGEST_REASON = 4_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision about one use of a tool, and what Claude or the person is told."""

    decision: Decision
    reason: str


def respond(io: Io) -> int:
    """Reads the request, prints the answer. Raises ValueError, CliGuardError, OSError."""
    request = parse(io.read_bytes())
    if not isinstance(request, dict):
        raise ValueError("the request is not an object")
    answer = answer_to(request, io.cwd, io.env)
    if answer is not None:
        answer = where_somebody_is_asked(answer, request.get("permission_mode"))
        output = {
            "hookEventName": EVENT,
            "permissionDecision": WORDS[answer.decision],
            "permissionDecisionReason": answer.reason[:LONGEST_REASON],
        }
        io.say(as_json({"hookSpecificOutput": output}))
    return 0


def answer_to(request: Mapping[str, Any], cwd: Path, env: Mapping[str, str]) -> Answer | None:
    """The answer, None where we have nothing to say. Raises ValueError for a request of another shape."""
    if text_in(request, "hook_event_name") != EVENT:
        raise ValueError(f"the event is not {EVENT}")
    tool, given = text_in(request, "tool_name"), request.get("tool_input")
    if tool != "Bash" and tool not in WRITERS:
        return None
    if not isinstance(given, dict):
        raise ValueError("tool_input is not an object")
    cwd = cwd / (text_in(request, "cwd") if "cwd" in request else "")
    if tool == "Bash":
        return about_command(text_in(given, "command"), cwd, env)
    return about_file(text_in(given, WRITERS[tool]), cwd, env)


def where_somebody_is_asked(answer: Answer, mode: object) -> Answer:
    """The answer in a mode of Claude Code: where nobody is asked, what needs a person is denied."""
    if answer.decision is Decision.REVIEW and mode in NOBODY_IS_ASKED:
        return Answer(
            Decision.DENY, f"{answer.reason}\nA person must decide, and in {mode} mode nobody is asked."
        )
    return answer


def about_command(command: str, cwd: Path, env: Mapping[str, str]) -> Answer:
    """A shell command; one that records or sends a change is answered with the review of that change."""
    context = command_context(cwd, env)
    verdict = judge(command, context)
    if verdict.verdict is not Decision.DENY:
        reviewed = about_change(
            command, verdict, context, Invocation(cwd, env, datetime.datetime.now(datetime.UTC))
        )
        if reviewed is not None:
            return reviewed
    return Answer(verdict.verdict, sentence(verdict))


def about_change(command: str, verdict: Verdict, context: Context, invocation: Invocation) -> Answer | None:
    """The review of what a plain `git commit` or `git push` would record or send, None for any other command."""
    request = recorded_by(command, context, invocation)
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


def about_file(name: str, cwd: Path, env: Mapping[str, str]) -> Answer | None:
    """A file that is written, under the name given and the one that links lead to."""
    if not name:
        raise ValueError("the path is empty")
    path = cwd / name
    # Patterns are about commands; here the engine is only asked what a path means.
    context = replace(command_context(cwd, env), patterns=())
    names = dict.fromkeys((str(path), os.path.realpath(path)))
    verdicts = [judge(f"tee -- {shlex.quote(each)}", context) for each in names]
    strict = max(verdicts, key=lambda verdict: STRICTNESS.index(verdict.verdict))
    kinds = {effect.kind for verdict in verdicts for effect in verdict.effects}
    if kinds <= UNREMARKABLE and not any(".git" in PurePath(each).parts for each in names):
        return None
    return Answer(strict.verdict, sentence(strict))
