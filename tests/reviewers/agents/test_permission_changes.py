"""What a change lets an agent do without a question: the same words widen in one place or state, and not in another."""

from typing import Any

import pytest
from reviewers.agents.surface_changes import SETTINGS, as_json, found, permissions, stops

AMP = ".amp/settings.json"
KIRO = ".kiro/agents/a.json"
CODEX = ".codex/config.toml"
CODEX_RULES = ".codex/rules/default.rules"
CURSOR = ".cursor/cli.json"
GEMINI = ".gemini/settings.json"
OPENCODE = "opencode.json"
VSCODE = ".vscode/settings.json"
ZED = ".zed/settings.json"

# Each row: a file, a text that lets more pass, and one with the same words that does not.
CURL = {"tool": "Bash", "matches": {"cmd": "curl *"}}
BASH_ALLOWED = {"tool": "Bash", "action": "allow"}
CURL_ALLOWED = {**CURL, "action": "allow"}
CURL_ASKED = {**CURL, "action": "ask"}
SUDO = [{"pattern": "^sudo\\s"}]


def zed(**terminal: object) -> str:
    return as_json(agent={"tool_permissions": {"tools": {"terminal": terminal}}})


def amp(matches: object) -> str:
    rule = {"tool": "Bash", "matches": matches, "action": "allow"}
    return as_json(**{"amp.permissions": [rule]})


def shell(**lists: object) -> str:
    """An agent of Kiro with settings for its shell."""
    return as_json(toolsSettings={"shell": lists})


PAIRS = {
    "claude: a denied command": (
        SETTINGS,
        permissions(allow=["Bash(curl:*)"]),
        permissions(deny=["Bash(curl:*)"]),
    ),
    "claude: an allowed command that is asked about all the same": (
        SETTINGS,
        permissions(allow=["Bash(curl:*)"]),
        permissions(allow=["Bash(curl:*)"], ask=["Bash(curl:*)"]),
    ),
    "claude: a wider denial": (
        SETTINGS,
        permissions(allow=["Bash(python:*)"], deny=["Bash(python3:*)"]),
        permissions(allow=["Bash(python:*)"], deny=["Bash"]),
    ),
    "claude: a mode under another key": (
        SETTINGS,
        permissions(defaultMode="bypassPermissions"),
        as_json(env={"defaultMode": "bypassPermissions"}),
    ),
    "claude: an interpreter with its script": (
        SETTINGS,
        permissions(allow=["Bash(node:*)"]),
        permissions(allow=["Bash(node scripts/build.js:*)"]),
    ),
    "claude: a sandbox": (
        SETTINGS,
        as_json(sandbox={"enabled": False}),
        as_json(spinner={"enabled": False}),
    ),
    "codex: a mode": (
        CODEX,
        'approval_policy = "never"\n',
        '[tui]\napproval_policy = "never"\n',
    ),
    "codex: full access": (
        CODEX,
        'sandbox_mode = "danger-full-access"\n',
        'sandbox_mode = "workspace-write"\n',
    ),
    "codex: network": (
        CODEX,
        "[sandbox_workspace_write]\nnetwork_access = true\n",
        "[sandbox_workspace_write]\nnetwork_access = false\n",
    ),
    "codex: a root": (
        CODEX,
        '[sandbox_workspace_write]\nwritable_roots = ["~"]\n',
        '[sandbox_workspace_write]\nwritable_roots = ["build"]\n',
    ),
    "codex: hooks": (CODEX, "[features]\nhooks = false\n", "[features]\nhooks = true\n"),
    "codex: a prefix": (
        CODEX_RULES,
        'prefix_rule(pattern = ["curl"], decision = "allow")\n',
        'prefix_rule(pattern = ["curl"], decision = "prompt")\n',
    ),
    "codex: a prefix of which nothing is decided": (
        CODEX_RULES,
        'prefix_rule(pattern = ["python3"])\n',
        'prefix_rule(pattern = ["python3", "-m", "pytest"])\n',
    ),
    "codex: a choice of prefixes": (
        CODEX_RULES,
        'prefix_rule(pattern = [["ls", "bash"]], decision = "allow")\n',
        'prefix_rule(pattern = [["ls", "bash"]], decision = "forbidden")\n',
    ),
    "codex: of two rules the strictest counts": (
        CODEX_RULES,
        'prefix_rule(pattern = ["rm"], decision = "allow")\n',
        'prefix_rule(pattern = ["rm"], decision = "allow")\nprefix_rule(pattern = ["rm"], decision = "prompt")\n',
    ),
    "codex: an example is no pattern": (
        CODEX_RULES,
        'prefix_rule(pattern = ["sudo"])\n',
        'prefix_rule(pattern = ["git", "status"], not_match = ["sudo"])\n',
    ),
    "cursor: a shell": (
        CURSOR,
        permissions(allow=["Shell(**)"]),
        permissions(deny=["Shell(**)"]),
    ),
    "cursor: a denied program": (
        CURSOR,
        permissions(allow=["Shell(curl)"]),
        permissions(allow=["Shell(curl)"], deny=["Shell(curl)"]),
    ),
    "cursor: a list": (
        ".cursor/permissions.json",
        as_json(terminalAllowlist=["bash"]),
        as_json(terminalDenylist=["bash"]),
    ),
    "cursor: servers": (
        ".cursor/permissions.json",
        as_json(mcpAllowlist=["*:*"]),
        as_json(mcpAllowlist=["docs:*"]),
    ),
    "cursor: a file elsewhere": (
        CURSOR,
        permissions(allow=["Write(~/**)"]),
        permissions(allow=["Write(src/**)"]),
    ),
    "gemini: a tool": (
        GEMINI,
        as_json(tools={"allowed": ["run_shell_command"]}),
        as_json(tools={"core": ["run_shell_command"]}),
    ),
    "gemini: a prefix": (
        GEMINI,
        as_json(tools={"allowed": ["run_shell_command(python)"]}),
        as_json(tools={"allowed": ["run_shell_command(git status)"]}),
    ),
    "gemini: an excluded tool": (
        GEMINI,
        as_json(tools={"allowed": ["run_shell_command"]}),
        as_json(tools={"allowed": ["run_shell_command"], "exclude": ["run_shell_command"]}),
    ),
    "gemini: a mode": (
        GEMINI,
        as_json(general={"defaultApprovalMode": "auto_edit"}),
        as_json(general={"defaultApprovalMode": "plan"}),
    ),
    "gemini: folders": (
        GEMINI,
        as_json(security={"folderTrust": {"enabled": False}}),
        as_json(security={"folderTrust": {"enabled": True}}),
    ),
    "vscode: a command": (
        VSCODE,
        as_json(**{"chat.tools.terminal.autoApprove": {"rm": True}}),
        as_json(**{"chat.tools.terminal.autoApprove": {"rm": False}}),
    ),
    "vscode: a choice of commands": (
        VSCODE,
        as_json(**{"chat.tools.terminal.autoApprove": {"/^(ls|bash)\\b/": True}}),
        as_json(**{"chat.tools.terminal.autoApprove": {"/^(ls|npm test)\\b/": True}}),
    ),
    "vscode: all": (
        VSCODE,
        as_json(**{"chat.tools.global.autoApprove": True}),
        as_json(**{"chat.tools.global.other": True}),
    ),
    "vscode: trust": (
        VSCODE,
        as_json(**{"security.workspace.trust.enabled": False}),
        as_json(**{"git.enabled": False}),
    ),
    "vscode: tasks": (
        VSCODE,
        as_json(**{"task.allowAutomaticTasks": "on"}),
        as_json(**{"task.allowAutomaticTasks": "off"}),
    ),
    "opencode: the last one wins": (
        OPENCODE,
        as_json(permission={"bash": {"*": "ask", "curl *": "allow"}}),
        as_json(permission={"bash": {"curl *": "allow", "*": "ask"}}),
    ),
    "opencode: a tool": (
        OPENCODE,
        as_json(permission={"bash": "allow"}),
        as_json(permission={"grep": "allow"}),
    ),
    "opencode: all": (
        OPENCODE,
        as_json(permission="allow"),
        as_json(permission="ask"),
    ),
    "opencode: an agent": (
        OPENCODE,
        as_json(agent={"build": {"permission": {"edit": "allow"}}}),
        as_json(agent={"build": {"permission": {"edit": "deny"}}}),
    ),
    "opencode: other folders": (
        OPENCODE,
        as_json(permission={"external_directory": "allow"}),
        as_json(permission={"external_directory": "ask"}),
    ),
    "zed: the default": (
        ZED,
        as_json(agent={"tool_permissions": {"default": "allow"}}),
        as_json(agent={"tool_permissions": {"default": "confirm"}}),
    ),
    "zed: a pattern": (
        ZED,
        as_json(
            agent={
                "tool_permissions": {
                    "tools": {"terminal": {"always_allow": [{"pattern": "^sudo\\s"}]}}
                }
            }
        ),
        as_json(
            agent={
                "tool_permissions": {
                    "tools": {"terminal": {"always_deny": [{"pattern": "^sudo\\s"}]}}
                }
            }
        ),
    ),
    "zed: a pattern that is denied as well": (
        ZED,
        zed(always_allow=SUDO),
        zed(always_allow=SUDO, always_deny=SUDO),
    ),
    "zed: a pattern that is asked about as well": (
        ZED,
        zed(always_allow=SUDO),
        zed(always_confirm=SUDO, always_allow=SUDO),
    ),
    "zed: a tool": (ZED, zed(default="allow"), zed(default="deny")),
    "kiro: a command": (
        KIRO,
        shell(allowedCommands=["curl .*"]),
        shell(deniedCommands=["curl .*"]),
    ),
    "kiro: a command that is denied as well": (
        KIRO,
        shell(allowedCommands=["curl .*"]),
        shell(allowedCommands=["curl .*"], deniedCommands=["curl .*"]),
    ),
    "kiro: all tools": (KIRO, as_json(allowedTools=["*"]), as_json(tools=["*"])),
    "kiro: the shell": (
        KIRO,
        as_json(allowedTools=["execute_bash"]),
        as_json(tools=["execute_bash"], allowedTools=["fs_read"]),
    ),
    "kiro: tools of a server": (
        ".kiro/settings/mcp.json",
        as_json(mcpServers={"a": {"url": "https://a.example", "autoApprove": ["x"]}}),
        as_json(mcpServers={"a": {"url": "https://a.example", "disabledTools": ["x"]}}),
    ),
    "amp: all": (
        AMP,
        as_json(**{"amp.dangerouslyAllowAll": True}),
        as_json(**{"amp.dangerouslyAllowAll": False}),
    ),
    "amp: a list": (
        AMP,
        as_json(**{"amp.commands.allowlist": ["curl"]}),
        as_json(**{"amp.commands.denylist": ["curl"]}),
    ),
    "amp: an action": (
        AMP,
        as_json(**{"amp.permissions": [CURL_ALLOWED]}),
        as_json(**{"amp.permissions": [CURL_ASKED]}),
    ),
    "amp: the first one wins": (
        AMP,
        as_json(**{"amp.permissions": [CURL_ALLOWED, CURL_ASKED]}),
        as_json(**{"amp.permissions": [CURL_ASKED, CURL_ALLOWED]}),
    ),
    "amp: a command with a word in it": (
        AMP,
        amp({"cmd": "*go *"}),
        amp({"cmd": "go test*"}),
    ),
    "amp: one of several patterns": (
        AMP,
        amp({"cmd": ["go test*", "bash *"]}),
        amp({"cmd": ["go test*", "make lint"]}),
    ),
    "amp: any command before a question": (
        AMP,
        as_json(**{"amp.permissions": [BASH_ALLOWED, CURL_ASKED]}),
        as_json(**{"amp.permissions": [CURL_ASKED]}),
    ),
    "amp: every tool": (
        AMP,
        as_json(**{"amp.permissions": [{"tool": "*", "action": "allow"}]}),
        as_json(**{"amp.permissions": [{"tool": "*", "action": "reject"}]}),
    ),
    "a command of Claude Code": (
        ".claude/commands/x.md",
        "---\nallowed-tools: Bash(*)\n---\nx\n",
        "---\ndescription: x\n---\nallowed-tools: Bash(*)\n",
    ),
    "aider": (".aider.conf.yml", "yes-always: true\n", "# yes-always: true\n"),
}
# Each row: the text before, the text after, and what stops the change.
CHANGES = {
    "a narrower grant": (
        permissions(allow=["Bash(curl:*)"]),
        permissions(allow=["Bash(curl -s https://example.com/:*)"]),
        [],
    ),
    "what was there": (
        permissions(allow=["Bash"]),
        permissions(allow=["Bash", "Bash(curl:*)", "Bash(npm test)"]),
        [],
    ),
    "a grant that a denial had beaten": (
        permissions(allow=["Bash(curl:*)"], deny=["Bash(curl:*)"]),
        permissions(allow=["Bash(curl:*)"]),
        ["permission-command", "permission-denial"],
    ),
    "a denial that becomes a question": (
        permissions(deny=["Bash(rm:*)"]),
        permissions(ask=["Bash(rm:*)"]),
        ["permission-denial"],
    ),
    "a question that becomes a denial": (
        permissions(ask=["Bash(rm:*)"]),
        permissions(deny=["Bash(rm:*)"]),
        [],
    ),
    "a stricter mode": (
        permissions(defaultMode="acceptEdits"),
        permissions(defaultMode="plan"),
        [],
    ),
    "a strict mode that goes": (
        permissions(defaultMode="plan"),
        permissions(),
        ["permission-mode"],
    ),
    "order, comments and blanks": (
        '{"permissions": {"allow": ["Bash(curl:*)", "Read"]}}',
        '{\n  // ours\n  "permissions": {\n    "allow": ["Read", "Bash(curl:*)"],\n  },\n}\n',
        [],
    ),
    "a mode that is not known": (
        permissions(),
        permissions(defaultMode="everythingGoes"),
        ["permission-mode"],
    ),
}


@pytest.mark.parametrize(("path", "wide", "narrow"), PAIRS.values(), ids=PAIRS)
def test_the_same_words_elsewhere_do_not_widen(path: str, wide: str, narrow: str) -> None:
    assert stops({}, {path: wide})
    assert stops({}, {path: narrow}) == []
    assert stops({path: wide}, {path: wide + "\n"}) == []


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_compared_with_what_was_there(
    before: str, after: str, expected: list[str]
) -> None:
    assert stops({SETTINGS: before}, {SETTINGS: after}) == expected


def test_a_longer_list_of_rejections_is_stricter() -> None:
    def reject(*patterns: str) -> str:
        rule = {"tool": "Bash", "matches": {"cmd": patterns}, "action": "reject"}
        return as_json(**{"amp.permissions": [rule]})

    short = {AMP: reject("*sudo *")}
    long = {AMP: reject("*sudo *", "*rm -rf*")}
    assert stops(short, long) == []
    assert stops(long, short) == ["permission-denial"]


def test_settings_beside_it_count_together() -> None:
    local = ".claude/settings.local.json"
    shared = {SETTINGS: permissions(allow=["Bash(curl:*)"])}
    wide = permissions(allow=["Bash(curl:*)", "Bash(wget:*)"])
    widened = found(shared, {**shared, local: wide})
    assert [
        each.evidence.split("\n")[0]
        for each in widened
        if each.rule == "agent-permission-command"
    ] == ["permissions.allow: Bash(wget:*)"]


def test_a_finding_has_its_line_and_says_what_passes() -> None:
    text = permissions(allow=["Read", "Bash(npm test)", "Bash(python3 -c:*)"])
    (finding,) = found({}, {SETTINGS: text})
    assert text.splitlines()[(finding.line or 0) - 1].strip() == '"Bash(python3 -c:*)"'
    assert finding.message.endswith("`python3 -c` with any words runs without a question")


# Each row: a file, settings whose order makes a rule dead, and the line of what beats it.
DEAD = {
    "amp": (AMP, {"amp.permissions": [BASH_ALLOWED, CURL_ASKED]}, '"tool": "Bash",'),
    "opencode": (
        OPENCODE,
        {"permission": {"bash": {"rm *": "deny", "*": "allow"}}},
        '"*": "allow"',
    ),
}


@pytest.mark.parametrize(("path", "dead", "line"), DEAD.values(), ids=DEAD)
def test_a_rule_that_the_order_makes_dead_names_what_beats_it(
    path: str, dead: dict[str, object], line: str
) -> None:
    text = as_json(**dead)
    (finding,) = found({path: as_json(**turned(dead))}, {path: text})
    assert finding.rule == "agent-permission-denial"
    assert text.splitlines()[(finding.line or 0) - 1].strip() == line
    assert (finding.line or 0) < 5 or path == OPENCODE


def turned(value: object) -> Any:
    """The same settings with each list of several turned round."""
    if isinstance(value, dict):
        pairs = [(name, turned(each)) for name, each in value.items()]
        return dict(reversed(pairs))
    return value[::-1] if isinstance(value, list) else value


def test_what_is_gone_stands_where_it_was_taken_away() -> None:
    lines = ["{", '  "model": "x",', '  "permissions": {', '    "deny": [']
    end = ['      "Read(b)"', "    ]", "  }", "}", ""]
    before = "\n".join([*lines, '      "Read(a)",', *end])
    (finding,) = found({SETTINGS: before}, {SETTINGS: "\n".join([*lines, *end])})
    assert (finding.line, finding.end_line) == (5, 5)
    narrow = permissions(allow=["Read"])
    for finding in found({SETTINGS: before}, {SETTINGS: narrow}):
        assert finding.line is not None and finding.end_line is not None
        assert '"permissions"' in "".join(narrow.split("\n")[: finding.end_line])
