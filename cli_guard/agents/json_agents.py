"""The agents whose settings are hooks in JSON: one row an agent, with what a failing hook does there.

The sources of their requests and answers stand in `dialects.py`.
"""

from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol

PRE_TOOL = "PreToolUse"
CLAUDE_DENIAL = ("hookSpecificOutput", "permissionDecision")


def write_claude_request(command: str, folder: str) -> dict[str, object]:
    return {
        "hook_event_name": PRE_TOOL,
        "cwd": folder,
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }


def make_claude_entry(command: str) -> dict[str, object]:
    # Every tool: one that is not known yet may have a command.
    hook = {
        "type": "command",
        "command": command,
        "timeout": TIMEOUT_SECONDS,
        "onFailure": "block",
    }
    return {"matcher": "*", "hooks": [hook]}


# Exit code 0 comes with a decision on standard output or none, 2 blocks the tool, and any other code, or a time-out,
# lets it run. `onFailure` blocks the tool when the hook cannot even start; versions before 2.1.295 do not know it.
CLAUDE_CODE = JsonHooks(
    Protocol(
        "claude-code",
        {
            "project": ".claude/settings.json",
            "local": ".claude/settings.local.json",
            "user": "~/.claude/settings.json",
        },
        write_claude_request,
        CLAUDE_DENIAL,
        ("CLAUDE_CONFIG_DIR", "~/.claude"),
        message="systemMessage",
    ),
    (PRE_TOOL,),
    make_claude_entry,
    failure_setting=(
        "onFailure",
        "block",
        '"onFailure": "block" (Claude Code 2.1.295 or later)',
    ),
)


def make_codex_entry(command: str) -> dict[str, object]:
    return {
        "matcher": "*",
        "hooks": [{"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}],
    }


CODEX_TRUST = (
    "Codex runs no hook that is not trusted: start it here and trust this one with /hooks"
)
# An answer that it does not know, a crash, a time-out and any exit code but 0 and 2 let the tool run; 2 blocks it if
# there is a reason on standard error. What is typed into a running command (`write_stdin`) reaches no hook.
CODEX = JsonHooks(
    Protocol(
        "codex",
        {"project": ".codex/hooks.json", "user": "~/.codex/hooks.json"},
        write_claude_request,
        CLAUDE_DENIAL,
        ("CODEX_HOME", "~/.codex"),
        message="systemMessage",
    ),
    (PRE_TOOL,),
    make_codex_entry,
    advice={"project": CODEX_TRUST, "user": CODEX_TRUST},
)


def write_gemini_request(command: str, folder: str) -> dict[str, object]:
    return {
        "hook_event_name": "BeforeTool",
        "cwd": folder,
        "tool_name": "run_shell_command",
        "tool_input": {"command": command},
    }


def make_gemini_entry(command: str) -> dict[str, object]:
    hook = {
        "name": "cli-guard",
        "type": "command",
        "command": command,
        "timeout": TIMEOUT_SECONDS * 1000,
    }
    return {"matcher": ".*", "hooks": [hook]}


# Any exit code but 0 and 1 blocks the tool; a hook that is killed or takes too long lets it run. An `ask` waits for a
# person: `gemini -p` waits for good. The request does not say whether one is there.
GEMINI = JsonHooks(
    Protocol(
        "gemini",
        {"project": ".gemini/settings.json", "user": "~/.gemini/settings.json"},
        write_gemini_request,
        ("decision",),
        passing=(0, 1),
        message="systemMessage",
    ),
    ("BeforeTool",),
    make_gemini_entry,
    advice={
        "project": "Gemini CLI runs the hooks of a project only in a folder that you trust"
    },
    timeout_unit_s=0.001,
)


def write_cursor_request(command: str, folder: str) -> dict[str, object]:
    return {
        "hook_event_name": "preToolUse",
        "cursor_version": "",
        "cwd": folder,
        "tool_name": "Shell",
        "tool_input": {"command": command, "cwd": folder},
    }


def make_cursor_entry(command: str) -> dict[str, object]:
    return {"command": command, "timeout": TIMEOUT_SECONDS}


# Exit code 2 blocks the tool, and any other failure lets it run. With `failClosed` only an explicit allow would pass,
# which may skip Cursor's own prompt, so the command itself fails closed.
CURSOR = JsonHooks(
    Protocol(
        "cursor",
        {"project": ".cursor/hooks.json", "user": "~/.cursor/hooks.json"},
        write_cursor_request,
        ("permission",),
        message="user_message",
    ),
    # Cursor's command line, and older versions, know the second alone.
    ("preToolUse", "beforeShellExecution"),
    make_cursor_entry,
    {"version": 1},
)


def write_copilot_request(command: str, folder: str) -> dict[str, object]:
    return {
        "sessionId": "",
        "cwd": folder,
        "toolName": "bash",
        "toolArgs": {"command": command},
    }


def make_copilot_entry(command: str) -> dict[str, object]:
    return {"type": "command", "bash": command, "timeoutSec": TIMEOUT_SECONDS}


# Every exit code but 0 denies, a time-out lets the tool run.
COPILOT = JsonHooks(
    Protocol(
        "copilot",
        {
            "project": ".github/hooks/cli-guard.json",
            "user": "~/.copilot/hooks/cli-guard.json",
        },
        write_copilot_request,
        ("permissionDecision",),
        ("COPILOT_HOME", "~/.copilot"),
        (0,),
    ),
    ("preToolUse",),
    make_copilot_entry,
    {"version": 1},
    own=True,
    advice={
        "project": "Copilot CLI runs the hooks of a project only in a folder that you trust;"
        " --where user runs in all"
    },
)
