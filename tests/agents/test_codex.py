"""Codex CLI: patches, as a tool and as a command that it applies itself, and that it is told nothing but denials."""

import json

import pytest
from agents_seen import meaning, payload, send
from examples import table
from repositories import Repo, key

LEAK = f'key = "{key()}"'
FILES = [
    ("*** Add File: src/new.py\n+x = 1", "nothing"),
    (f"*** Add File: src/new.py\n+{LEAK}", "deny"),
    (f"*** Update File: app.py\n@@\n-{LEAK}\n+x = 1", "nothing"),
    (f"*** Update File: app.py\n@@\n-{LEAK}\n+{LEAK}", "nothing"),
    ("*** Add File: x.py\n+x\n*** Add File: .git/hooks/pre-commit\n+x", "deny"),
    ("*** Update File: x.py\n*** Move to: .git/hooks/pre-commit\n@@\n-x\n+y", "deny"),
    (f"*** Update File: x.py\n*** Move to: y.py\n@@\n-x\n+{LEAK}", "deny"),
    ("*** Delete File: .codex/hooks.json", "deny"),
    ("*** Delete File: app.py", "nothing"),
    ("nothing at all", "deny"),
]


@table("kind", ["apply", "patch"])
@table(("body", "wanted"), FILES)
def test_a_patch(committed: Repo, kind: str, body: str, wanted: str) -> None:
    patch = f"*** Begin Patch\n{body}\n*** End Patch"
    command = patch if kind == "apply" else f"apply_patch <<'EOF'\n{patch}\nEOF\n"
    said, reason = meaning(
        "codex",
        send(committed, "codex", payload(committed, "codex", kind, command=command)),
    )
    assert said == wanted
    assert key() not in reason


@pytest.mark.parametrize(
    "command",
    [
        "apply_patch <<EOF\n*** Begin Patch\n*** Add File: x\n+$(date; touch y)\n*** End Patch\nEOF",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: x\n+x\n*** End Patch\nEOF\ntouch y",
        "env apply_patch <<'EOF'\n*** Add File: x\nEOF",
    ],
)
def test_a_command_that_is_more_than_a_patch_is_judged_as_one(
    committed: Repo, command: str
) -> None:
    request = payload(committed, "codex", "patch", command=command)
    assert meaning("codex", send(committed, "codex", request))[0] == "deny"


def test_a_denial_is_all_that_it_is_told(committed: Repo) -> None:
    done = send(
        committed,
        "codex",
        payload(committed, "codex", "shell", command="npm install left-pad"),
    )
    output = json.loads(done.out)["hookSpecificOutput"]
    assert output["permissionDecision"] == "deny"
    assert "a hook of Codex cannot ask" in output["permissionDecisionReason"]
