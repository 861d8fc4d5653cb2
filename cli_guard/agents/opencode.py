"""OpenCode: a plugin of our own, which sends us each use of a tool and throws where it is denied.

Source: https://opencode.ai/docs/plugins, and version 1.18.33 as it runs. An error thrown in `tool.execute.before` is
the tool's result; there is no way to ask. The request is our own: `event`, `tool`, `args`, `cwd`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli_guard.agents.judging import answer_request
from cli_guard.agents.payload import text_in
from cli_guard.agents.registry import ToolDenied
from cli_guard.agents.settings import IN_REPOSITORY, TIMEOUT_SECONDS, Protocol, write_text
from cli_guard.agents.uses import Call, Request, Tool, as_object, find_uses, read_object, split_name
from cli_guard.errors import UsageError
from cli_guard.git.repository import Repository
from cli_guard.model import Decision
from cli_guard.runtime import Invocation

NAME = "opencode"
EVENT = "tool.execute.before"
TOOLS = {
    "bash": Tool.SHELL,
    "write": Tool.WRITE,
    "edit": Tool.WRITE,
    "multiedit": Tool.WRITE,
    "apply_patch": Tool.PATCH,
    "patch": Tool.PATCH,
    "read": Tool.READ,
    "grep": Tool.SEARCH,
    "webfetch": Tool.FETCH,
}
SILENT = "a plugin of OpenCode cannot ask"
COMMAND = "const command = "
PLUGIN = """\
// Written by `cli-guard install --agent opencode`, and removed by `cli-guard uninstall --agent opencode`.
import { spawn } from "node:child_process"

const command = %(command)s

function ask(request, cwd) {
  return new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", command], { cwd, stdio: ["pipe", "ignore", "pipe"], timeout: %(timeout)d })
    let reason = ""
    child.stderr.on("data", (data) => (reason += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => resolve(`cli-guard cannot be started: ${error.message}`))
    child.on("close", (code) => resolve(code === 0 ? "" : reason.trim() || `cli-guard did not answer (${code})`))
    child.stdin.end(JSON.stringify(request))
  })
}

export const CliGuard = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const request = { event: "tool.execute.before", tool: input.tool, args: output.args ?? {}, cwd: directory }
    const reason = await ask(request, directory)
    if (reason) throw new Error(reason)
  },
})
"""


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one request: "" lets the tool run. Raises ToolDenied, ValueError, CliGuardError, OSError."""
    answer = answer_request(read_request(read_object(raw)), invocation, NAME)
    if answer and answer.decision is not Decision.ALLOW:
        raise ToolDenied(answer.text)
    return ""


def read_request(data: Mapping[str, Any]) -> Request:
    """Read a request of our plugin. Raises ValueError."""
    event = text_in(data, "event")
    if event != EVENT:
        raise ValueError(f"the event is {event}, not {EVENT}: run `cli-guard install --agent {NAME}` again")
    name, given = text_in(data, "tool"), as_object(data.get("args"), "args")
    uses = find_uses(name, given, TOOLS)
    if not uses and (names := split_name(name, "_")):
        # An MCP tool is named after its server: `github_create_issue`.
        uses = (Call(names, given),)
    return Request(uses, text_in(data, "cwd") if "cwd" in data else "", SILENT)


def write_request(command: str, folder: str) -> dict[str, object]:
    return {"event": EVENT, "tool": "bash", "args": {"command": command}, "cwd": folder}


def install(repository: Repository, where: str = "project") -> str:
    """Write the plugin; return what was done. Raises UsageError for a file that is not ours, CliGuardError."""
    path, name = PROTOCOL.find(repository, where), PROTOCOL.places.get(where, "")
    command = PROTOCOL.command()
    text = PLUGIN % {"command": json.dumps(command), "timeout": TIMEOUT_SECONDS * 1000}
    known = find_command(path, name)
    PROTOCOL.check(command, repository)
    if known and path.read_text("utf-8") == text:
        return f"{name}: is there already"
    write_text(path, name, text)
    return f"{name}: {'brought up to date' if known else 'installed'}"


def uninstall(repository: Repository, where: str | None = None) -> str | None:
    """Remove the plugin; return what was done, None if there is none."""
    done = []
    for each in [where] if where else [each for each in PROTOCOL.places if each in IN_REPOSITORY]:
        path, name = PROTOCOL.find(repository, each), PROTOCOL.places.get(each, "")
        if find_command(path, name):
            path.unlink()
            done.append(f"{name}: removed")
    return ", ".join(done) or None


def is_installed(repository: Repository) -> bool | None:
    return True if any(PROTOCOL.all_found(repository)) else None


def find_command(path: Path, name: str) -> str | None:
    """Return the command of our plugin, None if there is no file. Raises UsageError if the file is not ours."""
    if not path.exists():
        return None
    try:
        lines = path.read_text("utf-8").splitlines()
        command = next(line.removeprefix(COMMAND) for line in lines if line.startswith(COMMAND))
        if PROTOCOL.is_ours(json.loads(command)):
            return command
    except (OSError, ValueError, StopIteration):
        pass
    raise UsageError(f"{name} is not a plugin of cli-guard: move it elsewhere")


PROTOCOL = Protocol(
    NAME,
    {"project": ".opencode/plugins/cli-guard.js", "user": "~/.config/opencode/plugins/cli-guard.js"},
    write_request,
    lambda code, _: code != 0,
    ("XDG_CONFIG_HOME", "~/.config"),
)
