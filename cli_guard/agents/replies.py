"""Say a decision as an agent reads it: in JSON on standard output, or by an exit code.

The forms are those of the sources that `dialects.py` names.
"""

from cli_guard.agents.registry import ToolDenied
from cli_guard.agents.wording import HookAnswer
from cli_guard.execution.verdicts import as_json
from cli_guard.model import Decision


def reply_by_code(answer: HookAnswer) -> str:
    """Let the tool run in silence. Raises ToolDenied: every agent takes exit code 2 for a denial."""
    if answer.decision is not Decision.ALLOW:
        raise ToolDenied(answer.text)
    return ""


def describe_permission(answer: HookAnswer) -> dict[str, object]:
    return {"permissionDecision": answer.word, "permissionDecisionReason": answer.text}


def reply_to_claude(answer: HookAnswer) -> str:
    output = {"hookEventName": "PreToolUse", **describe_permission(answer)}
    return as_json({"hookSpecificOutput": output})


def reply_to_codex(answer: HookAnswer) -> str:
    # It knows neither allow nor ask.
    return reply_to_claude(answer) if answer.decision is Decision.DENY else ""


def reply_to_copilot(answer: HookAnswer) -> str:
    return as_json(describe_permission(answer))


def reply_to_vscode(answer: HookAnswer) -> str:
    # Copilot CLI sends the same request to a hook of the event `PreToolUse`, and reads the outer keys.
    output = {"hookEventName": "PreToolUse", **describe_permission(answer)}
    return as_json({"hookSpecificOutput": output, **describe_permission(answer)})


def reply_to_gemini(answer: HookAnswer) -> str:
    # The model reads the reason, a person who is asked reads the system message.
    asked = {"systemMessage": answer.text} if answer.decision is Decision.REVIEW else {}
    return as_json({"decision": answer.word, "reason": answer.text, **asked})


def reply_to_cursor(answer: HookAnswer) -> str:
    if answer.decision is Decision.ALLOW:
        return as_json({"permission": "allow"})
    return as_json(
        {"permission": "deny", "user_message": answer.text, "agent_message": answer.text}
    )


def reply_to_cline(answer: HookAnswer) -> str:
    if answer.decision is Decision.ALLOW:
        return as_json({"cancel": False})
    return as_json({"cancel": True, "errorMessage": answer.text})
