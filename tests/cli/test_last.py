"""`cli-guard last` shows the last report again, and what the model says if one is wanted."""

from pathlib import Path

import pytest
from in_process import RISKY, guard, stage
from openai_server import say_json, serve
from repositories import Repo

SAID = {
    "summary": ["Adds a function."],
    "questions": [{"path": "new.py", "line": 1, "text": "Who calls it?"}],
}


def configure(repo: Repo, base_url: str, *more: str) -> None:
    path = Path(repo.env["XDG_CONFIG_HOME"]) / "cli-guard/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        "[model]",
        "deadline_s = 300",
        'light = ["openai:test-model"]',
        f'base_url = "{base_url}"',
        *more,
    )
    path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    "files", [{"risky.py": RISKY}, {"new.py": "x = 1\n"}, {"logo.bin": b"\0\1"}]
)
def test_the_report_is_shown_again(committed: Repo, files: dict[str, str | bytes]) -> None:
    stage(committed, files)
    first = guard(committed, "hook", "pre-commit")
    again = guard(committed, "last")
    # The languages of what is searched for secrets alone are not in the report.
    assert (again.out, again.code) == (first.out, 0)
    whole = guard(committed, "last", "--format", "json").json
    assert whole.pop("advice") is None
    review = guard(committed, "review", "--format", "json").json
    assert {**whole, "timings_ms": 0, "event": 0} == {**review, "timings_ms": 0, "event": 0}


@pytest.mark.parametrize(
    "text, words",
    [
        (None, "no report yet"),
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"x": 1}', "cannot be read"),
    ],
)
def test_without_a_report_one_line(committed: Repo, text: str | None, words: str) -> None:
    folder = committed.path / ".git/cli-guard"
    if text is not None:
        folder.mkdir()
        (folder / "last-report.json").write_text(text)
    done = guard(committed, "last")
    assert done.code == 2 and words in done.err and done.err.count("\n") == 1


def test_it_is_asked_now_if_nobody_has(committed: Repo) -> None:
    stage(committed, {"new.py": "def new(): ...\n"})
    assert guard(committed, "hook", "pre-commit").code == 0
    committed.git("commit", "-q", "--no-verify", "-m", "Add it")
    with serve([say_json(SAID)]) as model:
        configure(committed, model.base_url, "after_hooks = true")
        first = guard(committed, "last")
        assert "asking the model about" in first.err
        assert "  Adds a function.\n  new.py:1  Who calls it?\n" in first.out
        again = guard(committed, "last")
        assert again.out == first.out and not again.err
        advice = guard(committed, "last", "--format", "json").json["advice"]
    assert advice["summary"] == "Adds a function." and advice["questions"][0]["line"] == 1
    (committed.path / "new.py").unlink()
    assert "withdrawn, as their lines have changed: 1" in guard(committed, "last").out


@pytest.mark.parametrize("how", ["not wanted", "no model", "not recorded"])
def test_it_is_not_asked(committed: Repo, how: str) -> None:
    with serve([]) as model:
        configure(
            committed, model.base_url, f"after_hooks = {str(how != 'not wanted').lower()}"
        )
        if how == "no model":
            configure(
                committed,
                model.base_url,
                "after_hooks = true",
                "medium = []",
                "light = []"[:0],
            )
            path = Path(committed.env["XDG_CONFIG_HOME"]) / "cli-guard/config.toml"
            path.write_text("[model]\nafter_hooks = true\n")
        stage(committed, {"risky.py": RISKY if how == "not recorded" else "x = 1\n"})
        assert guard(committed, "hook", "pre-commit").code == (
            3 if how == "not recorded" else 0
        )
        shown = guard(committed, "last")
    assert shown.code == 0 and shown.out and not shown.err and not model.requests


def test_a_failure_is_one_line_and_the_report_stands(committed: Repo) -> None:
    stage(committed, {"new.py": "def new(): ...\n"})
    first = guard(committed, "hook", "pre-commit")
    committed.git("commit", "-q", "--no-verify", "-m", "Add it")
    configure(
        committed, "http://127.0.0.1:9/v1", "after_hooks = true", 'api_key_env = "TEST_KEY"'
    )
    shown = guard(committed, "last")
    assert shown.code == 0 and shown.out == first.out
    (line,) = shown.err.splitlines()[1:]
    head = committed.git("rev-parse", "HEAD")[:7]
    assert (
        line.startswith(f"cli-guard: nothing from the model about {head}: ")
        and "no key" in line
    )
