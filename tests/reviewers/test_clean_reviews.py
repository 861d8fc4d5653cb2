"""A reviewer that found nothing in a change when it was staged is not asked again at the commit; any other one is."""

import datetime
import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from examples import table
from repositories import Repo, key

from cli_guard.model import Decision
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.review.render.review import Review
from cli_guard.review.request import Staged
from cli_guard.review.run import review_request
from cli_guard.reviewers import clean_files
from cli_guard.reviewers.advice import HookAdvice
from cli_guard.reviewers.cache import NAME, Cache
from cli_guard.reviewers.clean_files import CleanReviews, clean_reviews
from cli_guard.reviewers.per_file_work import PerFileWork
from cli_guard.reviewers.registry import REVIEWERS
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.runtime import Invocation

KEY = b"a" * 32
CLEAN = "def area(width: int) -> int:\n    return width * 2\n"
RISKY = "def run(name):\n    eval(name)\n"
EVERY = frozenset(each.name for each in REVIEWERS)
ADVISES = frozenset(("docs", "drift", "refactor"))


def review(repo: Repo, event: str = "pre-commit", *, prepare: bool = False) -> Review:
    """Reviews what is staged as the server does, which knows its own identity."""
    clean_files.identity()
    now = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)
    done = review_request(
        Staged(event), Invocation(repo.path, repo.env, now), record=not prepare
    )
    return replace(done, timings_ms={}, review_id=None)


def rows(repo: Repo) -> dict[bytes, list[str]]:
    """The reviewers that found nothing, by the key of the change."""
    path = repo.path / ".git" / "cli-guard" / NAME
    if not path.exists():
        return {}
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT key, value FROM examined").fetchall()
    values = {name: json.loads(value) for name, value in found}
    return {name: value[0] for name, value in values.items() if isinstance(value, list)}


def stage(repo: Repo, files: dict[str, str]) -> None:
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A")


@table("text", [CLEAN, RISKY, f'KEY = "{key()}"\n'])
def test_a_commit_says_the_same_after_it_was_prepared(committed: Repo, text: str) -> None:
    stage(committed, {"a.py": text, "b.py": CLEAN})
    known = rows(committed)
    before = review(committed)
    assert rows(committed) == known
    review(committed, prepare=True)
    (fresh,) = rows(committed).keys() - known.keys()
    assert rows(committed)[fresh]
    after = review(committed)
    assert replace(after, notes=()) == replace(before, notes=())


def test_who_found_something_is_asked_again(committed: Repo) -> None:
    stage(committed, {"a.py": RISKY})
    prepared = review(committed, prepare=True)
    (names,) = rows(committed).values()
    found = {each.finding.rule.split("-")[0] for each in prepared.findings}
    assert "code" in found and not found & set(names)
    assert {"secrets", "policy"} <= set(names)


def test_who_left_a_file_unread_is_asked_again(committed: Repo) -> None:
    stage(committed, {"a.py": "(" * 300 + ")" * 300 + "\npickle.loads(x)\n"})
    assert review(committed, prepare=True).skipped
    assert list(rows(committed).values()) == [[]]


def test_any_other_change_is_another_one(committed: Repo) -> None:
    stage(committed, {"a.py": CLEAN})
    review(committed, prepare=True)
    # Another line, another path, another tree before, another author, another policy, another hook.
    stage(committed, {"a.py": RISKY})
    assert review(committed).decision is not Decision.ALLOW
    stage(committed, {"a.py": CLEAN, "b.py": CLEAN})
    review(committed, prepare=True)
    committed.git("commit", "-q", "--no-verify", "-m", "Add b", "b.py")
    review(committed, prepare=True)
    committed.env["GIT_AUTHOR_NAME"] = "Grace"
    review(committed, prepare=True)
    own = committed.write("home/config.toml", "[decisions]\nlow = 'review'\n")
    committed.git("rm", "-q", "--cached", "--ignore-unmatch", "home/config.toml")
    committed.env["XDG_CONFIG_HOME"] = str(own.parent / "config")
    (own.parent / "config" / "cli-guard").mkdir(parents=True)
    own.rename(own.parent / "config" / "cli-guard" / "config.toml")
    review(committed, prepare=True)
    review(committed, "pre-merge-commit", prepare=True)
    assert len(rows(committed)) == 6


@table("event", ["review", "commit-msg", "pre-push", "changes"])
def test_only_a_commit_that_is_about_to_be_made_is_known(
    committed: Repo, event: str
) -> None:
    clean_files.identity()
    contents = SnapshotContents({}, {"a.py": CLEAN})
    subject = ReviewInput(event, changes_between({}, {"a.py": CLEAN}), contents)
    assert clean_reviews(Cache(committed.path), subject, "") is None


@table(
    ("bounded", "left_out", "names", "kept"),
    [
        (ADVISES, set(), {"docs", "code"}, {"docs", "code"}),
        (ADVISES, {"a.py"}, {"docs", "code"}, {"code"}),
        (ADVISES, {"a.py"}, ADVISES | {"code"}, ADVISES | {"code"}),
        (frozenset(), set(), ADVISES, ADVISES),
    ],
)
def test_what_is_left_out_of_advice_depends_on_all_who_advise(
    committed: Repo,
    bounded: frozenset[str],
    left_out: set[str],
    names: set[str],
    kept: set[str],
) -> None:
    changes = changes_between({}, {"a.py": CLEAN})
    advice = HookAdvice(ADVISES, bounded, left_out=left_out)
    known = CleanReviews(Cache(committed.path / "cache"), KEY)
    known.keep(names, ReviewInput("pre-commit", changes, advice=advice))
    fresh = ReviewInput("pre-commit", changes, advice=HookAdvice(ADVISES, bounded))
    found = known.recall(fresh)
    assert found.clean == kept
    told = advice.skipped if kept >= ADVISES else ()
    assert found.advice.skipped == told
    # What is examined file by file has its room before any of them runs.
    by_file = replace(fresh, work=PerFileWork(fresh))
    assert known.recall(by_file).clean == names


@table("value", [b"", b"7", b"{}", b'[["code"]]', b'[[["code"]], 0]', b"\xff", b'[7, "x"]'])
def test_a_row_of_another_kind_tells_nothing(committed: Repo, value: bytes) -> None:
    cache = Cache(committed.path / "cache")
    cache.put({KEY: value})
    subject = ReviewInput("pre-commit", changes_between({}, {"a.py": CLEAN}))
    assert CleanReviews(cache, KEY).recall(subject) == subject
    cache.put({KEY: b'[["code", "of another version"], 0]'})
    assert CleanReviews(cache, KEY).recall(subject).clean == {"code"}


def test_a_process_that_does_not_know_its_identity_looks_nothing_up(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(committed, {"a.py": CLEAN})
    review(committed, prepare=True)
    clean_files.identity.cache_clear()
    monkeypatch.setattr(Cache, "get", lambda *_: pytest.fail("looked up"))
    now = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)
    review_request(Staged("pre-commit"), Invocation(committed.path, committed.env, now))
