"""What `install --agent` says about a list of what an agent runs without a question."""

import json
from pathlib import Path

from in_process import guard
from repositories import Repo, key

REAL = [
    "Bash(npm test:*)",
    "Bash(git status)",
    "Bash(ls:*)",
    "Bash(npm ci)",
    "Bash(python:*)",
    "Bash(*)",
    "WebFetch(domain:docs.example.org)",
    "Read(src/**)",
]


def install(repo: Repo, allow: list[str], *options: str) -> list[str]:
    """The lines about the list of Claude Code, which is the user's or the project's."""
    path = repo.path / ".claude" / "settings.json"
    if "user" in options:
        path = Path(repo.env["HOME"], ".claude", "settings.json")
    path.parent.mkdir(exist_ok=True)
    before = {"permissions": {"allow": allow}}
    path.write_text(json.dumps(before))
    done = guard(repo, "install", "--agent", "claude-code", *options)
    assert (done.code, done.err) == (0, "")
    assert json.loads(path.read_text())["permissions"] == before["permissions"]
    return done.out.splitlines()[2 if "user" in options else 3 :]


def test_a_list_is_named_by_what_is_wide_and_what_is_needless(
    committed: Repo, unchecked: list[str]
) -> None:
    committed.commit("Add a package", {"package.json": '{"scripts": {"test": "jest"}}'})
    for options in (("--where", "user"), ()):
        first, *wide, needless, taken = install(committed, REAL, *options)[:5]
        assert first.endswith("settings.json lets 8 patterns run without a question")
        assert wide == [
            "cli-guard: ! wide: Bash(python:*): `python` with any words runs without a question",
            "cli-guard: ! wide: Bash(*): any command runs without a question",
        ]
        assert needless.startswith("cli-guard: 3 of them are needless in a work tree")
        assert needless.endswith(": Bash(npm test:*), Bash(git status), Bash(ls:*)")
        assert taken.endswith("would ask about: `cli-guard allow 'npm ci'`")


def test_no_list_no_words(committed: Repo, unchecked: list[str]) -> None:
    assert install(committed, []) == []


def test_a_hostile_list_is_bounded_and_harmless(
    committed: Repo, unchecked: list[str]
) -> None:
    secret = key()
    allow = [
        f"Bash(curl -H {secret} https://example.org\x1b[2J:*)",
        "Bash(\x00)",
        "Bash(((",
    ]
    lines = install(committed, [*allow, *(f"Bash(make t{n})" for n in range(2_000))])
    assert len(lines) <= 5 and all(len(line) < 1_000 for line in lines)
    assert not any(secret in line or "\x1b" in line for line in lines)
