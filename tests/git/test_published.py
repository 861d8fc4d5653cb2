"""Commits that another remote is known to have: never denied, said in one line, asked about once if they hold keys."""

import datetime
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from examples import table
from in_process import approve, guard, waiting
from repositories import Done, Repo, key

from cli_guard.git.tracking import host_of
from cli_guard.review.published import key_of
from cli_guard.review.push import PushPlan, read_lines
from cli_guard.review.request import Push
from cli_guard.review.run import ReviewOptions, review_request
from cli_guard.reviewers.cache import Cache
from cli_guard.rules.examples import expand
from cli_guard.runtime import Invocation

ZERO = "0" * 40
SECRET = f'KEY = "{key()}"\n'
RISKY = "import os\n\n\ndef run(x):\n    os.system('a' + x)\n"
# Another key than SECRET.
OTHER = expand("AKIA<<base32:16>>", 7)
PEM = "<<pem:PRIVATE KEY>>\n"
ELSEWHERE = "ssh://git@code.example.org/a/b"


@pytest.fixture
def cloned(committed: Repo, tmp_path: Path) -> Repo:
    """A clone of a repository that has published risky code and keys; `mine` is an empty remote."""
    committed.commit("Work", {"theirs.py": RISKY, "tests/certs/a.key": expand(PEM, 1)})
    committed.commit("Renew", {"tests/certs/a.key": expand(PEM, 2), "b.py": SECRET})
    committed.git("rm", "-q", "b.py")
    committed.commit("Remove a file")
    committed.git("clone", "-q", str(committed.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", committed.env)
    Repo.create(tmp_path / "mine.git", clone.env, "--bare")
    clone.git("remote", "add", "mine", str(tmp_path / "mine.git"))
    clone.commit("Mine", {"mine.py": "a = 1\n"})
    return clone


def push(repo: Repo, remote: str = "mine", tip: str = "main") -> Done:
    """What the hook says of a push of a new branch."""
    line = f"refs/heads/x {repo.git('rev-parse', tip)} refs/heads/x {ZERO}\n"
    return guard(repo, "hook", "pre-push", remote, "url", stdin=line)


def one_text(done: Done) -> str:
    return " ".join(done.all.split())


def found(repo: Repo) -> list[tuple[str, str, str]]:
    """Rule, path and decision of each finding of the last report."""
    report = json.loads((repo.path / ".git/cli-guard/last-report.json").read_text())
    return [(each["rule"], each["path"], each["decision"]) for each in report["findings"]]


KEYS = [
    ("secret-aws-access-key", "b.py", "review"),
    ("secret-private-key", "tests/certs/a.key", "review"),
]


def test_keys_that_go_to_a_new_place_are_asked_about_once(cloned: Repo) -> None:
    done = push(cloned)
    assert (done.code, found(cloned)) == (3, KEYS), done.all
    said = one_text(done)
    assert "4 commits of origin go to a new place (mine): searched for keys" in said
    assert "Private key, already published in origin; 1 more in other versions" in said
    assert "theirs.py" not in said and "rebase" not in said and "denied" not in said
    [asked] = waiting(cloned)
    assert push(cloned).code == 3 and waiting(cloned) == [asked]
    assert approve(cloned, asked).code == 0
    assert push(cloned).code == 0
    # Nor with one more commit of one's own.
    cloned.commit("More", {"mine.py": "a = 2\n"})
    done = push(cloned)
    assert done.code == 0, done.all
    # Another place is another question.
    assert push(cloned, "ssh://code.example.org/b").code == 3


def test_a_key_of_ones_own_is_still_denied(cloned: Repo) -> None:
    cloned.commit("Key", {"key.py": f'KEY = "{OTHER}"\n'})
    cloned.git("rm", "-q", "key.py")
    cloned.commit("No key")
    done = push(cloned)
    assert done.code == 1 and ("secret-aws-access-key", "key.py", "deny") in found(cloned)
    assert one_text(done).count("rewrite the commits") == 1
    assert [each for each in found(cloned) if each[2] == "review"] == KEYS


@pytest.mark.parametrize(
    "policy", ['[rules]\n"secret-*" = "deny"\n', '[decisions]\nhigh = "deny"\n']
)
def test_no_policy_denies_what_is_published(cloned: Repo, policy: str) -> None:
    cloned.commit("Be strict", {"cli-guard.toml": policy})
    assert push(cloned).code == 3 and found(cloned) == KEYS


def test_what_policy_ignores_is_not_asked_about(cloned: Repo) -> None:
    ignores = "".join(
        f'[[ignore]]\nrule = "secret-*"\npath = "{path}"\nreason = "of tests"\n'
        for path in ("tests/certs/**", "b.py")
    )
    cloned.commit("Say why", {"cli-guard.toml": ignores})
    cloned.git("push", "-q", "--no-verify", "origin", "main:later")
    cloned.commit("More", {"mine.py": "a = 2\n"})
    done = push(cloned)
    assert done.code == 0, done.all


@pytest.mark.parametrize(
    "theirs, mine, same_host",
    [
        (ELSEWHERE, "git@code.example.org:me/b.git", True),
        (ELSEWHERE, "ssh://me@CODE.example.org/me/b", True),
        (ELSEWHERE, "https://code.example.com/me/b", False),
        (ELSEWHERE, "ssh://code.example.org:2222/me/b", False),
        (ELSEWHERE, "/srv/b.git", False),
        ("/srv/a.git", "/srv/b.git", False),
        ("file:///srv/a.git", "file:///srv/b.git", False),
        ("ext::sh -c x", "ext::sh -c y", False),
    ],
)
def test_to_the_same_host_they_are_one_line(
    cloned: Repo, theirs: str, mine: str, same_host: bool
) -> None:
    cloned.git("remote", "set-url", "origin", theirs)
    cloned.git("remote", "set-url", "mine", mine)
    for remote in ("mine", mine):
        done = push(cloned, remote)
        assert done.code == (0 if same_host else 3), done.all
        line = "4 commits of origin go to another place on code.example.org: not searched"
        assert (line in one_text(done)) is same_host
    cloned.commit("Key", {"key.py": f'KEY = "{OTHER}"\n'})
    assert push(cloned).code == 1


def test_one_address_elsewhere_is_another_host(cloned: Repo) -> None:
    cloned.git("remote", "set-url", "origin", ELSEWHERE)
    cloned.git("remote", "set-url", "mine", ELSEWHERE)
    assert push(cloned).code == 0
    cloned.git("remote", "set-url", "--add", "--push", "mine", "ssh://other.example/b")
    assert push(cloned).code == 3


def test_a_password_in_an_address_is_not_shown(cloned: Repo) -> None:
    done = push(cloned, f"https://me:{OTHER}@code.example.org/b")
    assert "(code.example.org)" in one_text(done) and OTHER not in done.all


@pytest.mark.parametrize(
    "forgery",
    [
        ["update-ref refs/remotes/origin/zzz HEAD"],
        ["-c core.logAllRefUpdates=false update-ref refs/remotes/origin/zzz HEAD"],
        ["fetch -q . HEAD:refs/remotes/origin/zzz"],
        ["remote add up ../up.git", "update-ref refs/remotes/up/main HEAD"],
        ["update-ref -m x refs/remotes/origin/HEAD HEAD"],
        ["symbolic-ref refs/remotes/up/HEAD refs/heads/main"],
    ],
)
def test_a_forged_tracking_ref_hides_no_key(cloned: Repo, forgery: list[str]) -> None:
    cloned.commit("Key", {"key.py": f'KEY = "{OTHER}"\n'})
    for command in forgery:
        cloned.git(*command.split())
    assert push(cloned).code == 1
    assert ("secret-aws-access-key", "key.py", "deny") in found(cloned)


def test_a_remote_that_is_not_configured_any_more_proves_nothing(cloned: Repo) -> None:
    cloned.git("config", "--remove-section", "remote.origin")
    done = push(cloned)
    assert done.code == 1
    assert "4 commits that an old tracking ref says" in one_text(
        done
    ) and "rewrite" not in one_text(done)


def rows(repo: Repo) -> int:
    with closing(sqlite3.connect(repo.path / ".git/cli-guard/examined.sqlite")) as file:
        return int(file.execute("SELECT count(*) FROM examined").fetchone()[0])


def test_what_was_searched_is_remembered_and_a_forged_row_hides_nothing_of_ones_own(
    cloned: Repo,
) -> None:
    assert push(cloned).code == 3
    assert rows(cloned) == 1
    cache = Cache(cloned.path / ".git/cli-guard")
    theirs = cloned.git("rev-list", "--topo-order", "--reverse", "origin/main").split()
    own = cloned.commit("Key", {"key.py": f'KEY = "{OTHER}"\n'})
    forged = {key_of(commits): b"[]" for commits in ([*theirs], [own], [*theirs, own])}
    cache.put(forged)
    done = push(cloned)
    assert done.code == 1, done.all
    assert found(cloned) == [("secret-aws-access-key", "key.py", "deny")]
    # What it says of other commits, or in another form, is searched again.
    for broken in (b'["' + own.encode() + b'"]', b"{}", b"[[]]", b"\xff"):
        cache.put({key_of(theirs): broken})
        push(cloned)
        assert set(KEYS) < set(found(cloned))


@pytest.mark.parametrize(
    "files, message",
    [
        ({"c.txt": "token " + OTHER}, "Work"),
        ({"c.txt": "a\0b " + key() + "\n" + "x" * 9_000 + "\0"}, "Work"),
        ({}, f"Work with {OTHER}"),
        ({f"{OTHER}.txt": "a\n"}, "Work"),
        ({"c.json": '{"a": "b",\n "c": "' + OTHER + '"}'}, "Work"),
    ],
)
def test_where_published_keys_are_found(
    committed: Repo, tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    committed.commit(message, files)
    committed.git("clone", "-q", str(committed.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", committed.env)
    done = push(clone, str(tmp_path / "other.git"))
    binary = any("\0" in str(each) for each in files.values())
    assert done.code == (0 if binary else 3), done.all
    assert OTHER not in done.all


def test_progress_counts_commits(cloned: Repo) -> None:
    told = []

    def note(done: int, of: int, unit: str = "files") -> None:
        told.append((done, of, unit))

    plan = PushPlan(
        read_lines(f"x {cloned.git('rev-parse', 'main')} refs/heads/x {ZERO}\n")
    )
    invocation = Invocation(cloned.path, cloned.env, datetime.datetime.now(datetime.UTC))
    review_request(Push(plan, "mine"), invocation, ReviewOptions(on_progress=note))
    assert (4, 4, "commits") in told and (1, 1, "commits") in told


def test_nothing_is_asked_where_there_is_no_key(committed: Repo, tmp_path: Path) -> None:
    committed.commit("Work", {"theirs.py": RISKY, "k.py": 'KEY = "AKIAIOSFODNN7EXAMPLE"\n'})
    committed.git("clone", "-q", str(committed.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", committed.env)
    done = push(clone, str(tmp_path / "other.git"))
    assert done.code == 0, done.all
    assert "2 commits of origin go to a new place (another folder)" in one_text(done)


@table(
    "address, host",
    [
        ("https://github.com/a/b", "github.com"),
        ("https://user:word@Example.org:8443/a", "example.org:8443"),
        ("git@github.com:a/b.git", "github.com"),
        ("github.com:a/b.git", "github.com"),
        ("user@[::1]:a", "[::1]"),
        ("ssh://git@github.com/a", "github.com"),
        ("/srv/a", ""),
        ("../a", ""),
        ("./a:b", ""),
        ("a/b:c", ""),
        ("C:/a", ""),
        ("file:///srv/a", ""),
        ("ext::ssh github.com", ""),
        ("codecommit::eu-west-1://a", ""),
    ],
)
def test_the_host_of_an_address(address: str, host: str) -> None:
    assert host_of(address) == host
