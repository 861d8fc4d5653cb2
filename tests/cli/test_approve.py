"""Approvals: bound to exactly one content, policy and set of findings, and given by a person at a terminal."""

import datetime
import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest
from in_process import RISKY, Terminal, approve, damaged, guard, records, stage, waiting
from repositories import GUARD, Done, Repo, key

from cli_guard.approvals.storage import StateFolder
from cli_guard.review import run as reviewing
from cli_guard.state.records import KEPT_PENDING, PendingReview

MORE = RISKY + '    subprocess.run("other " + name, shell=True)\n'


def commit_hook(repo: Repo) -> Done:
    return guard(repo, "hook", "pre-commit")


def stopped(repo: Repo) -> str:
    """A review that waits; its id."""
    stage(repo, {"reports.py": RISKY})
    done = commit_hook(repo)
    assert done.code == 3
    [found] = waiting(repo)
    assert f"cli-guard approve {found}" in done.out
    return found


def test_approves_once_and_shows_what(committed: Repo) -> None:
    found = stopped(committed)
    with committed.unchanged():
        done = approve(committed, found, "--reason", "the name is checked")
    assert (done.code, done.err) == (0, "")
    assert "reports.py:8" in done.out
    assert "        | subprocess.run(" in done.out
    assert "commit again" in done.out
    assert waiting(committed) == []
    passed = commit_hook(committed)
    assert passed.code == 0
    [approval] = StateFolder(records(committed)).read_unsigned()
    assert approval.made.reason == "the name is checked"
    trail = list(records(committed).audit.entries())
    assert [entry["event"] for entry in trail] == ["pre-commit", "approve", "pre-commit"]
    assert records(committed).audit.verify().problem is None


def test_the_beginning_of_an_id_will_do(committed: Repo) -> None:
    assert approve(committed, stopped(committed)[:5]).code == 0


@pytest.mark.parametrize("answer", ["no", "", "yep", "n"])
def test_anything_but_yes_is_no(committed: Repo, answer: str) -> None:
    found = stopped(committed)
    done = approve(committed, found, answer=answer)
    assert done.code == 1
    assert "not approved" in done.out
    assert waiting(committed) == [found]
    assert commit_hook(committed).code == 3


def test_without_a_terminal_nobody_approves(committed: Repo) -> None:
    found = stopped(committed)
    done = committed.guard("approve", found, stdin="yes\n")
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert "terminal" in done.err
    assert waiting(committed) == [found]


def test_at_a_real_terminal_in_another_process(committed: Repo) -> None:
    found = stopped(committed)
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        (GUARD, "approve", found),
        cwd=committed.path,
        env=committed.env,
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    os.write(terminal, b"yes\n")
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65_536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    assert process.wait(60) == 0, shown
    assert b"reports.py:8" in shown
    assert commit_hook(committed).code == 0


@pytest.mark.parametrize(
    "change",
    [
        {"reports.py": RISKY + "\n"},
        {"reports.py": MORE},
        {"reports.py": None, "moved.py": RISKY},
        {"other.py": MORE},
    ],
    ids=["one byte more", "one finding more", "another name", "another file"],
)
def test_other_lines_ask_again(committed: Repo, change: dict[str, str | None]) -> None:
    assert approve(committed, stopped(committed)).code == 0
    for name, content in change.items():
        if content is None:
            (committed.path / name).unlink()
    stage(
        committed,
        {name: content for name, content in change.items() if content is not None},
    )
    assert commit_hook(committed).code == 3


def test_the_same_lines_count_beside_other_files_and_on_another_base(
    committed: Repo,
) -> None:
    assert approve(committed, stopped(committed)).code == 0
    stage(committed, {"other.py": "y = 1\n"})
    assert commit_hook(committed).code == 0
    committed.write("app.py", "x = 2\n")
    committed.git("commit", "-q", "--no-verify", "-m", "Other", "--", "app.py")
    assert commit_hook(committed).code == 0


def test_the_same_lines_count_below_others(committed: Repo) -> None:
    text = "# Reports.\n" + "\n" * 5 + "x = 1\n"
    committed.commit("Begin", {"reports.py": text})
    stage(committed, {"reports.py": text + RISKY})
    assert commit_hook(committed).code == 3
    [found] = waiting(committed)
    assert approve(committed, found).code == 0
    committed.git("stash", "-q")
    committed.commit("Go on", {"reports.py": "# All reports.\n" + text})
    committed.git("stash", "pop", "-q")
    committed.git("add", "reports.py")
    assert commit_hook(committed).code == 0
    # A line more among the added ones is another change.
    stage(committed, {"reports.py": "# All reports.\n" + text + "import os\n" + RISKY})
    assert commit_hook(committed).code == 3


def test_another_policy_asks_only_for_what_it_wants(committed: Repo) -> None:
    assert approve(committed, stopped(committed)).code == 0
    user = committed.path.parent / "config" / "cli-guard" / "config.toml"
    user.parent.mkdir(parents=True)
    env = {"XDG_CONFIG_HOME": str(committed.path.parent / "config")}
    user.write_text("[decisions]\nmedium = 'review'\n")
    assert guard(committed, "hook", "pre-commit", env=env).code == 0
    user.write_text("[rules]\n'code-python-shell' = 'deny'\n")
    assert guard(committed, "hook", "pre-commit", env=env).code == 1


def test_it_does_not_serve_another_repository(committed: Repo, tmp_path: Path) -> None:
    assert approve(committed, stopped(committed)).code == 0
    other = Repo.create(tmp_path / "other", committed.env)
    other.commit("Start", {"a.py": "y = 1\n"})
    state = other.path / ".git" / "cli-guard"
    state.mkdir()
    (state / "approvals.jsonl").write_bytes(
        (records(committed).folder / "approvals.jsonl").read_bytes()
    )
    stage(other, {"reports.py": RISKY})
    assert commit_hook(other).code == 3


def test_a_deny_is_never_lifted(committed: Repo) -> None:
    assert approve(committed, stopped(committed)).code == 0
    stage(committed, {"settings.py": f'aws_access_key_id = "{key()}"\n'})
    denied = commit_hook(committed)
    assert denied.code == 1
    assert "cli-guard approve" not in denied.out
    assert waiting(committed) == []


def test_what_was_approved_at_the_commit_is_not_asked_at_the_push(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    assert approve(committed, stopped(committed)).code == 0
    committed.git("commit", "-q", "--no-verify", "-m", "Add reports")
    head = committed.git("rev-parse", "HEAD")
    pushed = guard(
        committed,
        "hook",
        "pre-push",
        "origin",
        "url",
        stdin=f"refs/heads/main {head} refs/heads/main {base}\n",
    )
    assert pushed.code == 0, pushed.all
    assert "not shown (approved)" in pushed.out


def test_unknown_approved_and_ambiguous(committed: Repo) -> None:
    found = stopped(committed)
    stage(committed, {"more.py": MORE})
    commit_hook(committed)
    assert len(waiting(committed)) == 2
    for wanted, says in (
        ("ffffffffffff", "no pending review matches 'ffffffffffff'"),
        ("", "no pending review"),
    ):
        done = approve(committed, wanted)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert says in done.err
    twins = records(committed)
    for review in twins.pending():
        path = twins.folder / "waiting" / f"{review.id}.json"
        path.write_text(path.read_text().replace(review.id, "aaaa" + review.id[4:]))
        path.rename(path.with_name(f"aaaa{review.id[4:]}.json"))
    assert "matches 2 reviews" in approve(committed, "aaaa").err
    twins.remove_pending(found)
    assert approve(committed, waiting(committed)[0]).code in (0, 2)


def test_approved_already(committed: Repo) -> None:
    found = stopped(committed)
    assert approve(committed, found).code == 0
    for wanted in (found, found[:6]):
        done = approve(committed, wanted)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert "already approved" in done.err


@pytest.mark.parametrize("damage", ["missing", "garbage", "locked"])
def test_a_checkpoint_that_cannot_be_read_is_one_line(
    committed: Repo, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = stopped(committed)
    path = records(committed).checkpoint(found)
    with damaged(path, damage):
        done = approve(committed, found)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "again" in done.err
    assert StateFolder(records(committed)).read_unsigned() == []
    assert commit_hook(committed).code == 3
    assert approve(committed, found).code == 0, "the next run has made a new checkpoint"


def test_ten_wait_at_once(committed: Repo) -> None:
    for number in range(10):
        stage(committed, {"reports.py": RISKY + f"# {number}\n"})
        done = commit_hook(committed)
        assert done.code == 3
    ids = waiting(committed)
    assert len(ids) == 10
    staged = next(each for each in ids if each in done.all)
    other = next(each for each in ids if each != staged)
    assert approve(committed, other).code == 0, "each is of what was staged then"
    assert commit_hook(committed).code == 3, "and of nothing else"
    listed = guard(committed, "pending")
    assert "outdated" not in listed.out
    assert all((found in listed.out) is (found == staged) for found in ids)
    assert approve(committed, staged).code == 0
    assert commit_hook(committed).code == 0
    committed.git("commit", "-q", "--no-verify", "-m", "Report")
    for _ in range(2):
        listed = guard(committed, "pending")
        assert listed.out.startswith("cli-guard: no pending reviews; 8 outdated, as ")
    assert len(waiting(committed)) == 8, "a list removes nothing"
    refused = approve(committed, waiting(committed)[0])
    assert refused.code == 2 and "is outdated" in refused.err


def test_no_review_waits(committed: Repo) -> None:
    done = guard(committed, "pending")
    assert (done.code, done.out) == (0, "cli-guard: no pending reviews\n")
    assert guard(committed, "pending").out == done.out


def test_a_broken_line_of_approvals_approves_nothing(committed: Repo) -> None:
    found = stopped(committed)
    assert approve(committed, found).code == 0
    path = records(committed).folder / "approvals.jsonl"
    path.write_text(path.read_text()[:-20] + '\n[]\n{"id": 3}\nnull\n')
    assert commit_hook(committed).code == 3
    path.unlink()
    path.mkdir()
    done = commit_hook(committed)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "approvals.jsonl" in done.err


@pytest.mark.parametrize(
    "name", [b"caf\xe9.py", "caf\u00e9 \u2028.py".encode(), b"new\nline.py", b"$(x) 'y'.py"]
)
def test_a_name_of_any_bytes_can_wait_and_be_approved(committed: Repo, name: bytes) -> None:
    committed.write(name, RISKY)
    committed.git("add", "-A")
    assert commit_hook(committed).code == 3
    [found] = waiting(committed)
    done = approve(committed, found, "--reason", "caf\udce9 checked")
    assert (done.code, done.err) == (0, "")
    assert commit_hook(committed).code == 0
    assert records(committed).audit.verify().problem is None


def test_a_reason_is_redacted(committed: Repo) -> None:
    found = stopped(committed)
    assert approve(committed, found, "--reason", f"uses {key()} only in tests").code == 0
    for path in records(committed).folder.rglob("*"):
        assert path.is_dir() or key().encode() not in path.read_bytes()


def test_what_cannot_be_recorded_is_not_said_to_wait(committed: Repo) -> None:
    (committed.path / ".git" / "cli-guard").write_text("in the way")
    stage(committed, {"reports.py": RISKY})
    done = commit_hook(committed)
    assert done.code == 2
    assert "should be a folder: remove it" in done.all
    assert "cli-guard approve" not in done.out


def test_a_line_that_is_found_on_two_ways_is_approved_once(committed: Repo) -> None:
    stage(
        committed,
        {
            "setup": '#!/bin/sh\necho "X=1" > ~git/.ssh/environment\n',
            "run": "#!/bin/sh\nsource ./setup\nexec true\n",
        },
    )
    done = commit_hook(committed)
    assert done.code == 3 and done.out.count("command-privilege-file") == 2
    [found] = waiting(committed)
    assert approve(committed, found).code == 0
    assert commit_hook(committed).code == 0


OTHER = RISKY.replace("report", "letter")


def approve_plain(repo: Repo) -> Done:
    """Somebody at a terminal approves without an id."""
    return guard(repo, "approve", stdin=Terminal("yes\n"))


@pytest.mark.parametrize("way", [("-a",), ("--", "app.py")], ids=["all", "a path"])
def test_without_an_id_the_last_one_that_was_stopped_is_approved(
    forked: Repo, way: tuple[str, ...]
) -> None:
    stage(forked, {"reports.py": RISKY})
    assert guard(forked, "hook", "pre-commit").code == 3
    forked.write("app.py", OTHER)
    commit = ("commit", "-q", "-m", "Run it", *way)
    stopped = forked.run("git", *commit)
    assert stopped.code and "app.py" in stopped.all
    done = approve_plain(forked)
    assert done.code == 0 and "app.py:8" in done.out
    assert ("reports.py:8" in done.out) == (way == ("-a",))
    assert forked.run("git", *commit).code == 0


LEAK = f'aws_access_key_id = "{key()}"\n'
MUST_FIX = "must be fixed or ignored, and no approval changes that"
# What happens after a review was stopped, and what `approve` without an id says then.
AFTER = {
    "nothing": ("reports.py:8", 0),
    "reset": ("nothing needs an approval", 2),
    "a key is staged too": (f"what is staged {MUST_FIX}", 1),
    "a key is staged alone": (f"what is staged {MUST_FIX}", 1),
    "a key with -a": (f"the last review that stopped here {MUST_FIX}", 1),
    "a key is staged, then not": ("reports.py:8", 0),
    "a path beside a key": ("other.py:8", 0),
}


@pytest.mark.parametrize("after", AFTER)
def test_without_an_id_only_the_last_stop_is_asked_about(after: str, guarded: Repo) -> None:
    stopped(guarded)
    match after:
        case "reset":
            guarded.git("reset", "-q", "--hard")
        case "a key is staged too":
            stage(guarded, {"leak.py": LEAK})
        case "a key is staged alone":
            guarded.git("reset", "-q", "--hard")
            stage(guarded, {"leak.py": LEAK})
        case "a key with -a":
            guarded.git("reset", "-q", "--hard")
            guarded.write("app.py", LEAK)
        case "a key is staged, then not":
            stage(guarded, {"leak.py": LEAK})
        case "a path beside a key":
            stage(guarded, {"leak.py": LEAK, "other.py": OTHER})
    path = ("--", "other.py") if after == "a path beside a key" else ()
    all_ = ("-a",) if after == "a key with -a" else ()
    guarded.run("git", "commit", "-q", "-m", "Run it", *all_, *path)
    if after == "a key is staged, then not":
        guarded.git("rm", "-q", "--cached", "leak.py")
    done = approve_plain(guarded)
    words, code = AFTER[after]
    assert words in done.all and done.code == code, done.all


def test_without_an_id_what_was_staged_since_is_approved_too(committed: Repo) -> None:
    stopped(committed)
    stage(committed, {"other.py": OTHER})
    done = approve_plain(committed)
    assert done.code == 0 and "reports.py:8" in done.out and "other.py:8" in done.out
    assert commit_hook(committed).code == 0


def test_without_an_id_and_a_stop_what_is_staged_is_approved(committed: Repo) -> None:
    stage(committed, {"reports.py": RISKY})
    assert approve_plain(committed).code == 0
    assert commit_hook(committed).code == 0
    assert "nothing needs an approval" in approve_plain(committed).err


@pytest.mark.parametrize("before", ["nothing", "that", "less"])
def test_without_an_id_one_review_is_enough(
    committed: Repo, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before != "nothing":
        stopped(committed)
    stage(committed, {"other.py": OTHER} if before == "less" else {"reports.py": RISKY})
    runs = []
    run = reviewing.run

    def count(*given: Any) -> Any:
        runs.append(given)
        return run(*given)

    monkeypatch.setattr(reviewing, "run", count)
    assert approve_plain(committed).code == 0
    assert len(runs) == 1
    assert commit_hook(committed).code == 0


@pytest.mark.parametrize(
    ("number", "oldest", "hours", "is_told"),
    [
        (KEPT_PENDING, 1, 0, True),
        (KEPT_PENDING, 20, 0, False),
        (KEPT_PENDING - 1, 1, 0, False),
        (KEPT_PENDING, 0, 1, True),
    ],
    ids=["one too many", "the oldest has expired", "as many as are kept", "later ones"],
)
def test_a_review_that_is_dropped_is_named(
    committed: Repo, number: int, oldest: int, hours: int, is_told: bool
) -> None:
    kept = records(committed)
    kept.prepare()
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours)
    for each in range(number):
        age = datetime.timedelta(days=0 if each else oldest, seconds=number - each)
        at = (now - age).isoformat()
        plain = PendingReview(f"{each:064x}", "pre-commit", at, "", "", "", (), ())
        assert kept.add_pending(plain) == ()
    stage(committed, {"reports.py": RISKY})
    done = commit_hook(committed)
    assert done.code == 3
    assert ("reviews are pending, so" in done.all) is is_told
    assert (f"{0:064x}" in done.all) is is_told
    assert len(waiting(committed)) == KEPT_PENDING
    assert approve_plain(committed).code == 0
