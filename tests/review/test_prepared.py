"""What was reviewed when it was staged is not reviewed again at the commit, and says the same."""

import datetime
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from examples import table
from repositories import Repo, key

from cli_guard.model import Decision
from cli_guard.review import prepared, run
from cli_guard.review.prepared import NAME, sealing_key
from cli_guard.review.render import renderer
from cli_guard.review.render.review import Review
from cli_guard.review.request import Staged
from cli_guard.review.run import ReviewOptions, never, review_request
from cli_guard.runtime import Invocation

CLEAN = "def area(width: int) -> int:\n    return width * 2\n"
NOW = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)


@pytest.fixture(autouse=True)
def warm() -> Iterator[None]:
    """A process that keeps what it has prepared, as a server is."""
    sealing_key()
    yield
    sealing_key.cache_clear()


def review(
    repo: Repo,
    event: str = "pre-commit",
    *,
    prepare: bool = False,
    now: datetime.datetime = NOW,
) -> Review:
    options = ReviewOptions(records=never) if prepare else ReviewOptions()
    done = review_request(Staged(event), Invocation(repo.path, repo.env, now), options)
    return replace(done, timings_ms={}, review_id=None)


def stage(repo: Repo, files: dict[str, str]) -> None:
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A")


def is_reviewed(monkeypatch: pytest.MonkeyPatch, repo: Repo, **options: object) -> bool:
    """Whether a hook runs the graph."""
    runs: list[object] = []
    real = run.run
    monkeypatch.setattr(run, "run", lambda *given: runs.append(1) or real(*given))
    review(repo, **options)  # type: ignore[arg-type]
    monkeypatch.setattr(run, "run", real)
    return bool(runs)


def seen(done: Review) -> list[object]:
    """What is printed and recorded of a review."""
    return [
        renderer("text")(done),
        done.decision,
        done.status,
        done.findings,
        done.suppressed,
        done.skipped,
        done.files,
        done.reviewed,
        done.secrets_only,
        done.examples,
        json.dumps([done.plan, done.tool_results, done.action_log]),
    ]


@table(
    ("files", "is_kept"),
    [
        ({"a.py": CLEAN}, True),
        # The key of a documentation, a language without rules, an image.
        ({"a.py": 'ID = "AKIAIOSFODNN7EXAMPLE"\n'}, True),
        ({"a.zig": "const a = 1;\n", "b.png": "\x00\x01"}, True),
        ({"a.py": CLEAN + "# TODO: tell why\n" * 3, "caf\u00e9.py": CLEAN}, True),
        ({"a.py": "# cli-guard: ignore[code-eval] 3 words why\neval(x)\n"}, False),
        ({"a.py": "def run(name):\n    eval(name)\n"}, False),
        ({"a.py": f'KEY = "{key()}"\n'}, False),
    ],
)
def test_a_commit_says_the_same_after_it_was_prepared(
    committed: Repo,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    is_kept: bool,
) -> None:
    stage(committed, files)
    before = review(committed)
    review(committed, prepare=True)
    assert is_reviewed(monkeypatch, committed) != is_kept
    assert seen(review(committed)) == seen(before)


def test_any_other_change_is_reviewed(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_new(**options: object) -> bool:
        found = is_reviewed(monkeypatch, committed, **options)
        review(committed, prepare=True)
        assert not is_reviewed(monkeypatch, committed)
        return found

    stage(committed, {"a.py": CLEAN})
    assert is_new()
    stage(committed, {"a.py": CLEAN + "\n"})
    assert is_new(), "another line"
    committed.git("mv", "a.py", "c.py")
    assert is_new(), "another path"
    committed.git("update-index", "--chmod=+x", "c.py")
    assert is_new(), "another mode"
    stage(committed, {"b.py": CLEAN})
    committed.git("commit", "-q", "--no-verify", "-m", "Add b", "b.py")
    assert is_new(), "another commit before"
    committed.env["GIT_AUTHOR_NAME"] = "Grace"
    assert is_new(), "another author"
    assert is_new(event="pre-merge-commit"), "another hook"
    assert is_new(now=NOW + datetime.timedelta(days=1)), "another day"
    own = committed.path.parent / "config" / "cli-guard"
    own.mkdir(parents=True)
    (own / "config.toml").write_text("[decisions]\nlow = 'review'\n")
    committed.env["XDG_CONFIG_HOME"] = str(own.parent)
    assert is_new(), "another policy"
    stage(committed, {"a.py": "def run(name):\n    eval(name)\n"})
    assert review(committed).decision is not Decision.ALLOW


@table("part", ["seal", "body", "all", "none"])
def test_nobody_else_can_write_a_review(
    committed: Repo, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    stage(committed, {"a.py": CLEAN})
    review(committed, prepare=True)
    path = committed.path / ".git/cli-guard" / NAME
    seal, body = path.read_bytes().split(b"\n", 1)
    if part == "seal":
        path.write_bytes(seal.swapcase()[::-1] + b"\n" + body)
    elif part == "body":
        path.write_bytes(seal + b"\n" + body.replace(b'"files": 1', b'"files": 2'))
    elif part == "all":
        path.write_bytes(b"\xff\n7")
    else:
        # Another server, or the same program by the public rules.
        sealing_key.cache_clear()
        sealing_key()
    assert is_reviewed(monkeypatch, committed)


def test_checks_of_the_repository_run_each_time(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(
        committed,
        {"cli-guard.toml": '[checks.a]\ncommand = "true"\nstage = "pre-commit"\n'},
    )
    committed.git("commit", "-q", "--no-verify", "-m", "Add a check")
    stage(committed, {"a.py": CLEAN})
    review(committed, prepare=True)
    assert is_reviewed(monkeypatch, committed)


def test_a_process_of_one_run_keeps_nothing(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealing_key.cache_clear()
    stage(committed, {"a.py": CLEAN})
    review(committed, prepare=True)
    assert not (committed.path / ".git/cli-guard" / NAME).exists()
    monkeypatch.setattr(prepared.secrets, "token_bytes", lambda _: pytest.fail("a key"))
    assert is_reviewed(monkeypatch, committed)
