"""A scan finds each secret of a history once, with its first commit, and never calls clean what it did not read."""

import datetime
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from in_process import guard
from repositories import Repo, key

from cli_guard.errors import CliGuardError
from cli_guard.model import Decision
from cli_guard.report.scan import plan, run
from cli_guard.report.scan.run import ScanOptions, scan
from cli_guard.report.scan.slices import Scanner
from cli_guard.review.render.review import Review
from cli_guard.reviewers import workers
from cli_guard.runtime import Invocation

HISTORY = ScanOptions(history=True)
EXPLICIT = "  # cli-guard: ignore[secret-github-token] a token of the test server"


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "A_SLICE", 4)


def look(repo: Repo, options: ScanOptions = HISTORY, place: str | None = None) -> Review:
    now = datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)
    with repo.unchanged():
        return scan(place, options, Invocation(repo.path, repo.env, now))


def found(review: Review) -> list[tuple[str, str, str | None]]:
    return sorted(
        (each.finding.rule, each.finding.path, each.finding.commit)
        for each in review.findings
    )


def reasons(review: Review) -> dict[str, str]:
    return {each.path: each.reason for each in review.skipped}


def test_a_history_from_first_commit_to_last(committed: Repo, tmp_path: Path) -> None:
    """Branches, merges, a cherry-pick, a moved file, tags, UTF-16, names: each secret once, with the first commit."""
    repo = committed
    aws = f"aws = '{key()}'\n"
    first = repo.commit("Add", {"a.py": aws})
    repo.commit("Move", {"a.py": "", "src/b.py": f"x = 2\n{aws}"})
    repo.commit("Remove", {"src/b.py": "x = 2\n"})
    repo.git("switch", "-qc", "side", first)
    side = repo.commit("Side", {"wide.txt": f"token = {key('github')}\n".encode("utf-16")})
    repo.git("switch", "-q", "main")
    repo.env["GIT_COMMITTER_DATE"] = "2031-01-01T00:00:00Z"
    repo.git("cherry-pick", "side")
    repo.git("merge", "-q", "-m", "Join", "side")
    repo.git("tag", "-a", "v1", "-m", f"deploy with {key()[:-1]}Z")
    blob = repo.git(
        "hash-object", "-w", "--stdin", stdin=f"token = {key('github')[:-1]}Z\n"
    )
    repo.git("tag", "loose", blob)
    tag = repo.git("rev-parse", "v1")
    expected = [
        ("secret-aws-access-key", "", tag),
        ("secret-aws-access-key", "a.py", first),
        ("secret-github-token", "refs/tags/loose", None),
        ("secret-github-token", "wide.txt", side),
    ]
    review = look(repo)
    assert (found(review), review.decision) == (sorted(expected), Decision.DENY)
    assert (review.files, review.unit) == (
        int(repo.git("rev-list", "--all", "--count")),
        "commit",
    )
    # In copies of the process, again from what was kept, and in a clone: the same.
    assert found(look(repo, ScanOptions(history=True, fresh=True, jobs=3))) == sorted(
        expected
    )
    again = look(repo)
    assert found(again) == sorted(expected) and "--fresh" in again.notes[0]
    repo.git("clone", "-q", "--mirror", ".", str(tmp_path / "mirror"))
    assert found(look(repo, place=f"file://{tmp_path}/mirror")) == sorted(expected)
    # The tip alone, and a hook's variables do not lead elsewhere.
    repo.env["GIT_DIR"] = str(repo.path / ".git")
    assert found(look(repo, ScanOptions(), str(tmp_path / "mirror"))) == [
        ("secret-github-token", "wide.txt", None)
    ]


def test_the_tip_answers_for_its_history(committed: Repo) -> None:
    repo = committed
    token = f"token = '{key('github')}'"
    repo.commit("Add", {"a.py": f"{token}\n", "fixtures/b.py": f"aws = '{key()}'\n"})
    tree = repo.git(
        "rev-parse",
        f"{repo.commit('Answer', {'a.py': f'{token}{EXPLICIT}{chr(10)}'})}^{{tree}}",
    )
    assert found(look(repo, ScanOptions())) == [
        ("secret-aws-access-key", "fixtures/b.py", None)
    ]
    ignore = '[[ignore]]\nrule = "secret-*"\npath = "fixtures/**"\nreason = "fake keys of the tests"\n'
    repo.commit("Ignore", {"cli-guard.toml": ignore})
    review = look(repo)
    assert (found(review), review.decision) == ([], Decision.ALLOW)
    assert sorted(each.by for each in review.suppressed) == ["config", "inline"]
    # A ref that names a folder does not answer for the tip.
    repo.commit("Gone", {"a.py": ""})
    repo.git("update-ref", "refs/hidden/tree", tree)
    assert ("secret-github-token", "a.py") in [each[:2] for each in found(look(repo))]
    repo.git("update-ref", "-d", "refs/hidden/tree")
    repo.commit("Back", {"a.py": f"{token}{EXPLICIT}\n"})
    # The same secret where nothing answers it is reported, though it came later.
    last = repo.commit("Copy", {"src/c.py": f"aws = '{key()}'\n"})
    assert found(look(repo)) == [("secret-aws-access-key", "src/c.py", last)]


def test_what_is_not_there_is_said(committed: Repo, tmp_path: Path) -> None:
    repo = committed
    repo.commit("Big", {"big.txt": "x" * 6_000_000, "big.bin": bytes(1000)})
    lfs = (
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * "a" + "\nsize 5\n"
    )
    repo.commit("Point", {"large.psd": lfs})
    repo.git(
        "update-index",
        "--add",
        "--cacheinfo",
        f"160000,{repo.git('rev-parse', 'HEAD')},module",
    )
    repo.git("commit", "-qm", "Module")
    said = reasons(look(repo))
    assert {"big.txt", "big.bin", "large.psd", "module"} <= said.keys()
    assert "Git LFS" in said["large.psd"] and "limits.file_chars" in said["big.txt"]
    assert look(repo).decision is Decision.REVIEW
    repo.git(
        "clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "shallow")
    )
    shallow = look(repo, place=str(tmp_path / "shallow"))
    assert (shallow.decision, "shallow" in reasons(shallow)["history"]) == (
        Decision.REVIEW,
        True,
    )
    # A variable of the environment ends no history.
    (tmp_path / "ends").write_text(repo.git("rev-parse", "HEAD") + "\n")
    cut = Repo(repo.path, repo.env | {"GIT_SHALLOW_FILE": str(tmp_path / "ends")})
    assert look(cut).files == look(repo).files > 1
    # An object is missing: that commit is not read, the others are.
    after = repo.commit("After", {"a.py": f"aws = '{key()}'\n"})
    blob = repo.git("rev-parse", "HEAD:large.psd")
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    damaged = look(repo)
    assert ("secret-aws-access-key", "a.py", after) in found(damaged)
    assert any("missing" in reason for reason in reasons(damaged).values())


def test_nothing_is_lost_or_counted_twice_when_processes_end(
    committed: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo = committed
    for number in range(12):
        repo.commit(
            f"Commit {number}",
            {f"{number}.py": f"aws = '{key()[:-2]}{number:02}'\n".replace("0", "A")},
        )
    whole, real, once = found(look(repo)), Scanner.scan, tmp_path / "once"
    assert len(whole) == 12
    monkeypatch.setattr(workers, "available", lambda: 2)

    def die(self: Scanner, piece: Any) -> Review:
        if piece.number in deadly and not (once.exists() and len(deadly) == 1):
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, piece)

    monkeypatch.setattr(Scanner, "scan", die)
    deadly = {1}
    assert found(look(repo, ScanOptions(history=True, fresh=True, jobs=2))) == whole
    deadly = {1, 99}
    rest = look(repo, ScanOptions(history=True, fresh=True, jobs=2))
    # What the commits of that slice hold is found at the tip as well.
    assert {each[:2] for each in found(rest)} == {each[:2] for each in whole} | {
        ("policy-not-reviewed", "slice 1 (4 commits)")
    }

    # Ended in the middle: what was done is known, the rest is scanned.
    def stop(self: Scanner, piece: Any) -> Review:
        scanned.append(piece.number)
        if len(scanned) == 3:
            raise KeyboardInterrupt
        return real(self, piece)

    scanned: list[int] = []
    monkeypatch.setattr(Scanner, "scan", stop)
    state = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        look(repo, ScanOptions(history=True, state=state))
    assert found(look(repo, ScanOptions(history=True, state=state))) == whole
    assert len(scanned) == len(set(scanned)) + 1
    # A new commit: only the slices that changed are scanned.
    repo.commit("More")
    monkeypatch.setattr(Scanner, "scan", real)
    assert (
        "scanned by earlier runs"
        in look(repo, ScanOptions(history=True, state=state)).notes[0]
    )


def test_a_hostile_repository(committed: Repo, tmp_path: Path) -> None:
    """Its configuration, hooks, replace refs, grafts and commit-graph neither run nor hide anything."""
    repo = committed
    token = "".join(("gh", "p_x7Kq2mZr9Tb4Wn8Yc3Vd6Hf1Jg5LsPaQe0R"))
    name = b"a\x1b[31m\n\xff.py"
    Path(os.fsdecode(os.path.join(os.fsencode(repo.path), name))).write_text(
        f"token = '{token}'\n"
    )
    bad = repo.commit("Hidden")
    clean = repo.git("rev-parse", f"{bad}~1")
    repo.git("branch", f"deploy-{key()}")
    repo.git("replace", bad, repo.git("commit-tree", f"{clean}^{{tree}}", "-m", "clean"))
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/grafts").write_text(f"{bad} {clean}\n")
    ran = tmp_path / "ran"
    for setting in (
        "core.fsmonitor",
        "diff.external",
        "core.pager",
        "uploadpack.packObjectsHook",
        "diff.x.textconv",
    ):
        repo.git("config", setting, f"touch {ran}")
    (repo.path / ".git/info/attributes").write_text("* diff=x -text\n")
    review = look(repo)
    rules = [(each[0], each[2]) for each in found(review)]
    assert ("secret-github-token", bad) in rules and (
        "secret-aws-access-key",
        None,
    ) in rules
    assert not ran.exists()
    for format in ("text", "json", "sarif"):
        done = guard(repo, "scan", "--history", "--format", format)
        assert (
            done.code == 1
            and "\x1b" not in done.out
            and token not in done.out
            and key() not in done.out
        )


def test_bad_places(committed: Repo, tmp_path: Path) -> None:
    """One line each, exit code 2; the repositories beside it are scanned all the same."""
    file = tmp_path / "file"
    file.touch()
    for place, words in {
        "nowhere": "no folder",
        str(tmp_path): "no Git repository",
        str(file): "not a folder",
        "https://example.org/x.git": "not on this machine",
        "git@example.org:x.git": "not on this machine",
        "x" * 300: "too long",
        "file://[::1": "names no folder",
        "~nobody-here/x": "names no folder",
    }.items():
        done = guard(committed, "scan", place)
        assert (done.code, done.out, done.err.count("\n")) == (
            2,
            "",
            1,
        ) and words in done.err
    for arguments in (
        ("--state", str(file)),
        ("--engine", "dask"),
        ("--scheduler", "tcp://127.0.0.1:1"),
    ):
        done = guard(committed, "scan", *arguments)
        assert (done.code, done.out) == (2, "")
    both = guard(committed, "scan", "nowhere", ".", "--format", "json")
    states = {each["repository"]: each["status"] for each in json.loads(both.out)["scans"]}
    assert (both.code, states) == (2, {"nowhere": "failed", ".": "ok"})
    assert guard(committed, "scan", "--output", "/dev/full").code == 2
    committed.write("a.py", f"aws = '{key()}'\n")
    committed.commit("Deny")
    assert guard(committed, "scan", "nowhere", ".", "--rules").code == 1
    empty = Repo.create(tmp_path / "empty", committed.env)
    assert guard(empty, "scan", "--history").code == 0
    with pytest.raises(CliGuardError, match="--history"):
        committed.git("symbolic-ref", "HEAD", "refs/heads/none")
        look(committed, run.ScanOptions())
